// Gives the shared library a source of its own; what is in it comes from foretell_api.
