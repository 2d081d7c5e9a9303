import { aisdk } from './aisdk/peer.mjs';
import { apollo } from './apollo/peer.mjs';
import { hand } from './hand/peer.mjs';
import { ours, ours20 } from './ours/peer.mjs';
import { yoga } from './yoga/peer.mjs';

/** In the order of the tables; the first is what the others are compared with. */
export const peers = [hand, aisdk, apollo, yoga, ours, ours20];
