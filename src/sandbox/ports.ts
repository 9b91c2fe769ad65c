import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { CommandError } from '../terminal/failure.js'

/**
 * Below the ephemeral range: a connection or another program could take an ephemeral port before its program starts. A claimed port is free
 * until its program listens: each process has a part of the ports, because sandboxes start side by side, and goes through it in order, so
 * that it claims none twice.
 */
const ANY_PORT = { from: 10_000, to: 32_768 }
const PARTS = 64
const PART = Math.floor((ANY_PORT.to - ANY_PORT.from) / PARTS)
const TRIES = 20

let next = randomInt(PART)
let ownPart: Promise<number> | undefined

/** Undefined where the port is in use. */
async function listenAt(port: number): Promise<{ port: number; server: Server } | undefined> {
  const server = createServer().listen(port, '127.0.0.1')
  const found = { port, server }
  return once(server, 'listening').then(
    () => found,
    () => undefined,
  )
}

/** The first port of this process's part. It listens there for as long as it lives, so that no other process takes the same part. */
async function takePart(): Promise<number> {
  for (let tries = 0; tries < PARTS; tries++) {
    const guard = await listenAt(ANY_PORT.from + ((process.pid + tries) % PARTS) * PART)
    guard?.server.unref()
    if (guard) return guard.port
  }
  throw new CommandError('port-taken', `other sandboxes have all ports from ${ANY_PORT.from} on`)
}

async function listenAnywhere() {
  ownPart ??= takePart()
  const guarded = await ownPart
  for (let tries = 0; tries < TRIES; tries++) {
    const found = await listenAt(guarded + 1 + (next++ % (PART - 1)))
    if (found) return found
  }
  return undefined
}

/**
 * Resolves each 0 to a free port; all ports are distinct.
 * @throws CommandError `port-taken`
 */
export async function claimPorts<W extends Readonly<Record<string, number>>>(
  wanted: W,
): Promise<{ readonly [Name in keyof W]: number }> {
  const ports: Record<string, number> = {}
  // Holds each port until all are claimed, so that none is given twice.
  const held: Server[] = []
  const optionOf = (name: string) => (name === 'server' ? '--port' : `--${name}-port`)
  try {
    for (const [name, port] of Object.entries(wanted)) {
      const found = await (port === 0 ? listenAnywhere() : listenAt(port))
      if (found === undefined) {
        const other = Object.keys(ports).find((claimed) => ports[claimed] === port)
        const text =
          other === undefined
            ? `is in use: end the program that uses it, or choose another port with ${optionOf(name)}`
            : `is that of ${optionOf(other)} and of ${optionOf(name)}: choose two`
        throw new CommandError('port-taken', `port ${port} ${text}`)
      }
      ports[name] = found.port
      held.push(found.server)
    }
    return { ...wanted, ...ports }
  } finally {
    await Promise.all(held.map((server) => once(server.close(), 'close')))
  }
}
