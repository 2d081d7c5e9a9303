/** Lends work a client of the peer, and that opens conversations. */
export async function withClient({ peer, url }, work) {
  const client = peer.connect(url);
  try {
    return await work(client);
  } finally {
    client.close();
  }
}

export const openMany = (client, count) => Promise.all(Array.from({ length: count }, () => client.open()));

export const ignoreToken = () => {};
