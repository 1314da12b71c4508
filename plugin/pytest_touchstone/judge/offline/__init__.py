"""A judge of rules: no key, no network, the same verdict for the same text on every machine."""

AGREEMENT = (
    "faithfulness of two LLMs' answers (mtRAG's human evaluation), AUC 0.976 on government and"
    " 0.972 on cloud documentation, each fitted on the other, 129 answers in all; nothing else was"
    " measured against people (docs/offline-judge.md)"
)
"""How well the rules agree with people: the output of ``evaluation/judge_fitting``."""
