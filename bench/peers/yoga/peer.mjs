import { fileURLToPath } from 'node:url';
import { prismaPeer } from '../prisma/peer.mjs';

export const yoga = {
  ...prismaPeer,
  name: 'yoga',
  title: 'Yoga + Pothos + Prisma',
  server: fileURLToPath(new URL('./server.mjs', import.meta.url)),
};
