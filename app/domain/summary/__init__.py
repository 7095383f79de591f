"""Long conversations in few sentences, each of which leads back to the messages it came from."""
