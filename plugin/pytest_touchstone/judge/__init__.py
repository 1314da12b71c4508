"""The judge: `tasks` are what is asked, `protocol` who answers, `llm` the answer of a model."""
