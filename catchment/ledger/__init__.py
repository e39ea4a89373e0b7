"""Reading the ledger: what each stream sent, what arrived, and what is missing in between."""
