import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { CommandError } from '../terminal/failure.js'

/** Ports of the sandbox; 0 picks a free one. */
export interface Ports {
  server: number
  rpc: number
  broker: number
  /** The enclave's port; if absent, none is claimed. */
  enclave?: number
  /** The trading page's port; if absent, the page is not served. */
  desk?: number
}

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

/** The first port of this process's part. It listens there for as long as it lives, so that no other process takes the same part. */
async function takePart(): Promise<number> {
  for (let tries = 0; tries < PARTS; tries++) {
    const first = ANY_PORT.from + ((process.pid + tries) % PARTS) * PART
    const guard = createServer().unref().listen(first, '127.0.0.1')
    const isOurs = once(guard, 'listening').then(
      () => true,
      () => false,
    )
    if (await isOurs) return first
  }
  throw new CommandError('port-taken', `other sandboxes have all ports from ${ANY_PORT.from} on`)
}

/**
 * Resolves each 0 to a free port; all ports are distinct.
 * @throws CommandError `port-taken`
 */
export async function claimPorts<W extends Readonly<Record<string, number>>>(
  wanted: W,
): Promise<{ readonly [Name in keyof W]: number }> {
  // Holds each port until all are claimed, so that none is given twice.
  const probes: Server[] = []
  const claimed = new Map<number, string>()
  const claimOne = async (port: number, option: string): Promise<number> => {
    const probe = createServer().listen(port, '127.0.0.1')
    await once(probe, 'listening').catch(() => {
      const other = claimed.get(port)
      const text =
        other === undefined
          ? `port ${port} is in use: end the program that uses it, or choose another port with --${option}`
          : `port ${port} is that of --${other} and of --${option}: choose two`
      throw new CommandError('port-taken', text)
    })
    probes.push(probe)
    claimed.set(port, option)
    return port
  }
  const claim = async (port: number, option: string): Promise<number> => {
    if (port !== 0) return claimOne(port, option)
    ownPart ??= takePart()
    const guarded = await ownPart
    for (let tries = 1; ; tries++) {
      try {
        return await claimOne(guarded + 1 + (next++ % (PART - 1)), option)
      } catch (error) {
        if (tries === TRIES) throw error
      }
    }
  }
  try {
    const ports: Record<string, number> = {}
    for (const [name, port] of Object.entries(wanted))
      ports[name] = await claim(port, name === 'server' ? 'port' : `${name}-port`)
    return { ...wanted, ...ports }
  } finally {
    await Promise.all(probes.map((probe) => once(probe.close(), 'close')))
  }
}
