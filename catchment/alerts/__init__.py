"""What is told to people: events of rules become alerts, and alerts become messages."""
