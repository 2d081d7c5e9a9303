import { fileURLToPath } from 'node:url';
import { prismaPeer } from '../prisma/peer.mjs';

export const apollo = {
  ...prismaPeer,
  name: 'apollo',
  title: 'Apollo Server + Prisma',
  server: fileURLToPath(new URL('./server.mjs', import.meta.url)),
};
