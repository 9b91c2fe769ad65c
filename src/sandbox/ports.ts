import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

/** A port that the sandbox needs belongs to another program, or to another of its options. */
export class PortTakenError extends Error {
  override readonly name = 'PortTakenError'

  constructor(port: number, option: string) {
    super(`port ${port} is in use: end the program that holds it, or choose another one with --${option}`)
  }
}

/** Ports of the sandbox; 0 takes a free one. */
export interface Ports {
  /** Of the server, or of the balancer before several. */
  server: number
  rpc: number
  broker: number
  /** Of the enclave; without one, none is claimed. */
  enclave?: number
  /** Of the page to trade on; without one, it is not served. */
  desk?: number
}

/** Ports that are free. */
export interface ClaimedPorts extends Ports {
  /** Of each server, and of its endpoints for its operator. */
  servers: readonly { port: number; ops: number }[]
}

/**
 * Below the ports that systems give to connections and to programs that take any: one of those could have a claimed port before
 * the program that it was claimed for.
 */
const ANY_PORT = { from: 10_000, to: 32_768 }
const TRIES = 20

/**
 * The same ports, free and all different, with a number for each 0. Of several servers, each has a port of its own besides.
 * @throws PortTakenError
 */
export async function claimPorts(
  { server, rpc, broker, enclave, desk }: Ports,
  servers = 1,
): Promise<ClaimedPorts> {
  const probes: Server[] = []
  const claimOne = async (port: number, option: string): Promise<number> => {
    const probe = createServer()
    try {
      probe.listen(port, '127.0.0.1')
      await once(probe, 'listening')
    } catch {
      throw new PortTakenError(port, option)
    }
    probes.push(probe)
    return port
  }
  const claim = async (port: number, option: string): Promise<number> => {
    if (port !== 0) return claimOne(port, option)
    for (let tries = 1; ; tries++) {
      try {
        return await claimOne(randomInt(ANY_PORT.from, ANY_PORT.to), option)
      } catch (error) {
        if (tries === TRIES) throw error
      }
    }
  }
  try {
    // Held until all are claimed, so that none is given twice.
    const entrance = await claim(server, 'port')
    const each: { port: number; ops: number }[] = []
    while (each.length < servers) {
      const port = servers === 1 ? entrance : await claim(0, 'port')
      each.push({ port, ops: await claim(0, 'ops-port') })
    }
    return {
      server: entrance,
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
