import { join } from 'node:path'
import { expect } from 'vitest'
import { ROOT } from '../../../src/sandbox/settings.js'
import { allProcesses } from '../../support/processes.js'
import { type Program, startProgram } from '../../support/program.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

/** What the enclave's env file has with `--file-keys` alone. */
export const ENCLAVE_KEYS = ['LEDGER_MASTER_KEY', 'INTENT_PRIVATE_KEY', 'ENCLAVE_PRIVATE_KEY']

interface SandboxRun extends Program {
  readonly directory: string
  /** The command lines of what it has started, and of what that has started. */
  processes(): Promise<string[]>
}

export async function startSandbox(args: string[] = [], root = ROOT, kept?: string): Promise<SandboxRun> {
  const directory = kept ?? (await temporaryDirectory())
  const ports = ['port', 'rpc-port', 'broker-port', 'enclave-port', 'desk-port'].map((name) => `--${name}=0`)
  const all = [...ports, `--directory=${directory}`, ...args]
  // The chain inherits the mark; server and enclave get nothing but paths into the directory.
  const program = startProgram(join(root, 'dist/sandbox/main.js'), all, { env: { SANDBOX_MARK: directory } })
  return {
    ...program,
    directory,
    async processes() {
      const shown = await allProcesses()
      return shown
        .filter(({ environment }) => environment.some((variable) => variable.includes(directory)))
        .filter(({ pid }) => pid !== program.child.pid)
        .map(({ arguments: command }) => command.join(' '))
    },
  }
}

/** Like Ctrl-C in a terminal: signals the whole process group. */
export function interrupt({ child }: Program): void {
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGINT')
}

export async function expectNothingLeft(sandbox: SandboxRun): Promise<void> {
  const programs = (await sandbox.processes()).filter((command) => !command.startsWith('/bin/sh'))
  expect(programs).toEqual([])
  // The shells that watched over them end by themselves.
  await expect.poll(() => sandbox.processes()).toEqual([])
}
