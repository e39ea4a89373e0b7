"""Who is who: the certificate authority, provider identities, tokens."""
