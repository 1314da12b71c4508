"""The tables of the store.  Names and columns are a public contract: people query them.

Structured values are JSON text (never pickle), times are ISO 8601 in UTC.
"""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()

runs = Table(
    "eval_runs",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("label", Text),
    Column("started_at", Text, nullable=False),
    Column("finished_at", Text),
    Column("config", Text, nullable=False),
    Column("num_questions", Integer, nullable=False),
    Column("dataset_path", Text, nullable=False),
    Column("dataset_sha256", String(64), nullable=False),
    Column("commit_sha", String(64)),
    # Set by whoever wants the run to end early; every flight polls it.
    Column("stop", Integer, nullable=False, default=0),
)

cases = Table(
    "eval_cases",
    metadata,
    Column("run_id", ForeignKey("eval_runs.id"), primary_key=True),
    Column("case_id", Text, primary_key=True),
    Column("position", Integer, nullable=False),
    Column("gold", Text, nullable=False),
)

plan = Table(
    "eval_plan",
    metadata,
    Column("run_id", ForeignKey("eval_runs.id"), primary_key=True),
    Column("case_id", Text, primary_key=True),
    Column("system", Text, primary_key=True),
    Column("repeat", Integer, primary_key=True),
    Column("mode", Text, primary_key=True),
    Column("measure", Text, primary_key=True),
)

questions = Table(
    "eval_questions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("run_id", ForeignKey("eval_runs.id"), nullable=False),
    Column("case_id", Text, nullable=False),
    Column("system", Text, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("mode", Text, nullable=False),
    Column("turn", Integer, nullable=False),
    Column("question", Text, nullable=False),
    Column("question_type", Text, nullable=False),
    Column("answer", Text),
    Column("sources", Text),
    Column("tool_trace", Text),
    Column("filters", Text),
    Column("behavior", Text),
    Column("cost_usd", Float),
    Column("duration_ms", Float),
    Column("error", Text),
    Column("created_at", Text, nullable=False),
    Column("usage", Text),
    Column("facts", Text),
    Column("cost_reason", Text),
    Column("retrieved_only", Integer, nullable=False, default=0),
    Column("citations", Text),
    # Content address of what was asked, and the run that asked it, where it was an earlier one.
    Column("address", String(64)),
    Column("reused_from", String(64)),
    # An answer that is there and not yet read to the end: whoever resumes the run goes on with it.
    Column("unfinished", Integer, nullable=False, default=0),
    UniqueConstraint("run_id", "case_id", "system", "repeat", "mode", "turn"),
)

passages = Table(
    "eval_passages",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("text", Text, nullable=False),
    Column("metadata", Text, nullable=False),
)

judgments = Table(
    "eval_judgments",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("question_id", ForeignKey("eval_questions.id"), nullable=False),
    Column("paragraph_idx", Integer),
    Column("paragraph_text", Text),
    Column("cited_indices", Text),
    Column("verdict", Text),
    Column("rationale", Text),
    Column("judge_model", Text),
    Column("coverage_score", Float),
    Column("created_at", Text, nullable=False),
)

citations = Table(
    "eval_citations",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("judgment_id", ForeignKey("eval_judgments.id"), nullable=False),
    Column("source_index", Integer, nullable=False),
    Column("passage_id", Text),
    Column("verdict", Text),
    Column("coverage_score", Float),
    Column("scorer", Text),
    Column("scale", Text),
    Column("windows", Integer),
)

scores = Table(
    "eval_scores",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("run_id", ForeignKey("eval_runs.id"), nullable=False),
    Column("question_id", ForeignKey("eval_questions.id"), nullable=False),
    Column("case_id", Text, nullable=False),
    Column("system", Text, nullable=False),
    Column("measure", Text, nullable=False),
    Column("value", Float),
    Column("reason", Text),
    Column("origin", Text, nullable=False),
    Column("engine", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("why", Text, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("mode", Text, nullable=False),
    UniqueConstraint("run_id", "case_id", "system", "repeat", "mode", "measure"),
)

# Content-addressed pieces of work: who does one, and that it is done.
calls = Table(
    "eval_calls",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("kind", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("result", Text),
    Column("created_at", Text, nullable=False),
)

# The calls that a run's verdicts rest on; ``result`` is that of one which is not kept for others,
# or what was wrong with it.
call_uses = Table(
    "eval_call_uses",
    metadata,
    Column("run_id", ForeignKey("eval_runs.id"), primary_key=True),
    Column("key", String(64), primary_key=True),
    Column("result", Text),
)

# What a run with a budget has spent, and reserved for calls under way, in US dollars.
spending = Table(
    "eval_spending",
    metadata,
    Column("run_id", ForeignKey("eval_runs.id"), primary_key=True),
    Column("budget", Float, nullable=False),
    Column("spent", Float, nullable=False),
    Column("reserved", Float, nullable=False),
    Column("refused", Integer, nullable=False),
)

# A claim lives as long as its owner's beat moves; a process that said goodbye has none below 0.
workers = Table(
    "eval_workers",
    metadata,
    Column("owner", String(64), primary_key=True),
    Column("run_id", Text, nullable=False),
    Column("beat", Integer, nullable=False),
)

# What a run learns on the way: prices, peaks, faults of the whole run.
notes = Table(
    "eval_notes",
    metadata,
    Column("run_id", ForeignKey("eval_runs.id"), primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

# What a judge said of inputs whose verdict is known; ``form`` is the digest of inputs and prompts.
canaries = Table(
    "eval_canaries",
    metadata,
    Column("run_id", ForeignKey("eval_runs.id"), primary_key=True),
    Column("canary", String(64), primary_key=True),
    Column("judge", Text, nullable=False),
    Column("form", String(64), nullable=False),
    Column("lang", Text, nullable=False),
    Column("known", Text, nullable=False),
    Column("said", Text),
    Column("earlier", Text),
    Column("earlier_at", Text),
    Column("why", Text, nullable=False),
    Column("asked_at", Text, nullable=False),
)

Index("eval_canaries_of_judge", canaries.c.judge, canaries.c.form, canaries.c.asked_at)
Index("eval_judgments_of_question", judgments.c.question_id)
Index("eval_citations_of_judgment", citations.c.judgment_id)
Index("eval_questions_by_address", questions.c.address)
# Few claims are open at any time; whoever looks for those of the dead reads only them.
Index("eval_calls_open", calls.c.state, calls.c.owner)
