/** The sockets of one client, to be closed together. */
export function createSocketPool(open) {
  const all = [];
  let shared = null;
  const add = async () => {
    const socket = await open();
    all.push(socket);
    return socket;
  };
  return {
    open: add,
    /** One socket for so many users, then the next one. */
    share(users) {
      if (shared === null || shared.left === 0) shared = { socket: add(), left: users };
      shared.left -= 1;
      return shared.socket;
    },
    close() {
      for (const socket of all) socket.close();
    },
  };
}
