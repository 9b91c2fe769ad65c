import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

/** A port of the sandbox is taken, by another program or by another of its options. */
export class PortTakenError extends Error {
  override readonly name = 'PortTakenError'

  constructor(port: number, option: string, other?: string) {
    super(
      other === undefined
        ? `port ${port} is in use: end the program that uses it, or choose another port with --${option}`
        : `port ${port} is that of --${other} and of --${option}: choose two`,
    )
  }
}

/** Ports of the sandbox; 0 picks a free one. */
export interface Ports {
  /** The server's port, or that of the balancer in front of several. */
  server: number
  rpc: number
  broker: number
  /** The enclave's port; if absent, none is claimed. */
  enclave?: number
  /** The trading page's port; if absent, the page is not served. */
  desk?: number
}

/** Ports that were free when claimed. */
interface ClaimedPorts extends Ports {
  /** The port that the enclave calls: the only server's own, or that of the balancer in front of several. */
  relay: number
  /** The ports of each server: the public one, that of its operator endpoints, and the enclave's. */
  servers: readonly { port: number; ops: number; relay: number }[]
}

/**
 * Below the ephemeral range: a connection or another program could take an ephemeral port before its program starts. Each process has a
 * part of them, because a claimed port is free until its program listens, and sandboxes start side by side.
 */
const ANY_PORT = { from: 10_000, to: 32_768 }
const PARTS = 64
const PART = Math.floor((ANY_PORT.to - ANY_PORT.from) / PARTS)
const FIRST = ANY_PORT.from + (process.pid % PARTS) * PART
const TRIES = 20

/**
 * Resolves each 0 to a free port; all ports are distinct. Several servers also get a port each.
 * @throws PortTakenError
 */
export async function claimPorts(
  { server, rpc, broker, enclave, desk }: Ports,
  servers = 1,
): Promise<ClaimedPorts> {
  const probes: Server[] = []
  const claimed = new Map<number, string>()
  const claimOne = async (port: number, option: string): Promise<number> => {
    const probe = createServer()
    try {
      probe.listen(port, '127.0.0.1')
      await once(probe, 'listening')
    } catch {
      throw new PortTakenError(port, option, claimed.get(port))
    }
    probes.push(probe)
    claimed.set(port, option)
    return port
  }
  const claim = async (port: number, option: string): Promise<number> => {
    if (port !== 0) return claimOne(port, option)
    for (let tries = 1; ; tries++) {
      try {
        return await claimOne(randomInt(FIRST, FIRST + PART), option)
      } catch (error) {
        if (tries === TRIES) throw error
      }
    }
  }
  try {
    // Holds each port until all are claimed, so that none is given twice.
    const entrance = await claim(server, 'port')
    const relayEntrance = await claim(0, 'relay-port')
    const each: { port: number; ops: number; relay: number }[] = []
    while (each.length < servers) {
      const port = servers === 1 ? entrance : await claim(0, 'port')
      const relay = servers === 1 ? relayEntrance : await claim(0, 'relay-port')
      each.push({ port, ops: await claim(0, 'ops-port'), relay })
    }
    return {
      server: entrance,
      relay: relayEntrance,
      servers: each,
      rpc: await claim(rpc, 'rpc-port'),
      broker: await claim(broker, 'broker-port'),
      ...(enclave !== undefined && { enclave: await claim(enclave, 'enclave-port') }),
      ...(desk !== undefined && { desk: await claim(desk, 'desk-port') }),
    }
  } finally {
    await Promise.all(probes.map((probe) => once(probe.close(), 'close')))
  }
}
