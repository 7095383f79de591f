"""The context of a session's next call: its memories prepared, its sections made, all of it within a budget."""
