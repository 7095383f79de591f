"""What is worth remembering of a conversation, found without a language model; pure."""
