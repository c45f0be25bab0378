"""The machine that measures: its facts, and whether it is fit."""
