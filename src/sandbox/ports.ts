import { once } from 'node:events'
import { createServer } from 'node:net'

/** A port that the sandbox needs belongs to another program. */
export class PortTakenError extends Error {
  override readonly name = 'PortTakenError'

  constructor(port: number, option: string) {
    super(`port ${port} is in use: end the program that holds it, or choose another one with --${option}`)
  }
}

/**
 * The port itself when it is free, or a free one for 0.
 * @throws PortTakenError
 */
export async function claimPort(port: number, option: string): Promise<number> {
  const probe = createServer()
  try {
    probe.listen(port, '127.0.0.1')
    await once(probe, 'listening')
  } catch {
    throw new PortTakenError(port, option)
  }
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  if (address === null || typeof address === 'string') throw new PortTakenError(port, option)
  return address.port
}
