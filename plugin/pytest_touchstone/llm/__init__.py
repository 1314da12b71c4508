"""Language models: `chat` calls one, `prompts` is what it is told, `prices` what it costs."""
