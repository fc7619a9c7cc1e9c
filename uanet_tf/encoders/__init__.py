"""From word vectors to contextual states, with call-time dropout masks."""
