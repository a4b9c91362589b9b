// Only there to give the precompiled test headers a target to belong to.
