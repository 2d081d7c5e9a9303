/**
 * The close code for what passes by itself: too many sockets, a client that did not read. Stock clients know it as a
 * reason to reconnect after a while, unlike the codes of the protocol for refusals.
 */
export const tryAgainLater = 1013;
