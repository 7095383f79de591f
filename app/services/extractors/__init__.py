"""What is worth remembering of a window of messages: found by rules, or by a language model."""
