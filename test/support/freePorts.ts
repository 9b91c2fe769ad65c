import { claimPorts } from '../../src/sandbox/ports.js'

/** So many ports that are free, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const wanted = Object.fromEntries(Array.from({ length: count }, (_, index) => [`${index}`, 0]))
  return Object.values(await claimPorts(wanted))
}
