// The processes of a sandbox, as the system shows them (Linux: `/proc`).
import { readFile } from 'node:fs/promises'
import type { Sandbox } from '../../src/sandbox/sandbox.js'
import { allProcesses, type ShownProcess } from '../../test/support/processes.js'

/** Milliseconds of CPU since their start, by part of the platform, enclaves that have ended included. */
export interface PlatformCpu {
  readonly server: number
  readonly enclave: number
  readonly node: number
}

type Looked = Pick<Sandbox, 'directory' | 'info'>

/** `sysconf(_SC_CLK_TCK)`, which Linux has fixed at 100 towards programs. */
const MS_PER_TICK = 10

/** The enclaves of this sandbox that run now. */
async function enclavePids({ directory }: Looked): Promise<number[]> {
  const processes = await allProcesses()
  return processes.filter((process) => isEnclave(process, directory)).map(({ pid }) => pid)
}

/** @param server its process id */
export async function platformCpu(sandbox: Looked, server: number): Promise<PlatformCpu> {
  const [own, enclaves, node] = await Promise.all([
    ticksOf(server),
    enclavePids(sandbox).then((pids) => Promise.all(pids.map(ticksOf))),
    nodePid(sandbox).then(ticksOf),
  ])
  const running = enclaves.reduce((sum, { self, children }) => sum + self + children, 0)
  return {
    server: own.self * MS_PER_TICK,
    // The server starts no other programs than enclaves.
    enclave: (own.children + running) * MS_PER_TICK,
    node: node.self * MS_PER_TICK,
  }
}

/** Milliseconds of CPU that these processes have used since their start, including threads that have ended. */
export async function cpuMs(...pids: readonly number[]): Promise<number> {
  const ticks = await Promise.all(pids.map(ticksOf))
  return ticks.reduce((sum, { self }) => sum + self, 0) * MS_PER_TICK
}

/** By the port that the sandbox has given it. */
async function nodePid({ info }: Looked): Promise<number> {
  const { port } = new URL(info.rpcUrl)
  const isNode = ({ arguments: words }: ShownProcess) =>
    words.some((word) => word.includes('anvil')) && words[words.indexOf('--port') + 1] === port
  const found = (await allProcesses()).find(isNode)
  if (found === undefined) throw new Error(`no node listens on port ${port}`)
  return found.pid
}

function isEnclave({ arguments: words, environment }: ShownProcess, directory: string): boolean {
  const isOfSandbox = [...words, ...environment].some((text) => text.includes(`${directory}/`))
  return isOfSandbox && words.some((word) => word.includes('/dist/enclave'))
}

/** CPU of the process and of its children that have ended, in ticks; none when it has ended itself. */
async function ticksOf(pid: number): Promise<{ self: number; children: number }> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The name, in parentheses, may hold spaces. Behind it: state is field 3, and utime field 14.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15).map(Number)
  return { self: user + system, children: childUser + childSystem }
}
