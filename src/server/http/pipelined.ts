import type { RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Has every response of a connection emit `close` when the connection ends. Node tells only the one whose turn it is:
 * those of requests that came behind it (pipelined; RFC 9112, 9.3.2) would seem to be under way for ever.
 */
export function closingWithConnection(listener: RequestListener): RequestListener {
  const responses = new WeakMap<Socket, Set<ServerResponse>>()

  function responsesOf(socket: Socket): Set<ServerResponse> {
    const known = responses.get(socket)
    if (known !== undefined) return known
    const open = new Set<ServerResponse>()
    responses.set(socket, open)
    socket.once('close', () => {
      // After Node has told the one whose turn it was.
      process.nextTick(() => {
        for (const res of open) res.emit('close')
      })
    })
    return open
  }

  return (req, res) => {
    // Node goes on with what came in one read, also when the connection was closed in between.
    if (req.socket.destroyed) return
    const open = responsesOf(req.socket)
    open.add(res)
    res.once('close', () => open.delete(res))
    listener(req, res)
  }
}
