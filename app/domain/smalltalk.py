"""placeholder"""
def worth_retrieving(text: str) -> bool:
    return True
