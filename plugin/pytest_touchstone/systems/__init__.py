"""Systems: what is asked.  `protocol` says how, `loading` finds them, `single_shot` ships."""
