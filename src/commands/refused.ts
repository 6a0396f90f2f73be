/** A command cannot do what it was asked for; the message says why. Here, because `run` loads no other command. */
export class CommandRefused extends Error {}
