import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Desk } from './desk.js'
import { enclaveProcesses } from './enclaveProcesses.js'
import { readFiles } from './watch.js'

/** All that a request can bring about: files, runs, gas. */
export async function effectsOf({ sandbox }: Desk) {
  const { address } = sandbox.accounts.relayer
  const [files, log, running, nonce, balance] = await Promise.all([
    readFiles(join(sandbox.directory, 'server')),
    readFile(join(sandbox.directory, 'server.log'), 'utf8'),
    enclaveProcesses(sandbox),
    sandbox.provider.getTransactionCount(address, 'pending'),
    sandbox.provider.getBalance(address),
  ])
  return {
    files: [...files]
      .filter(([path]) => !MOVING.test(path))
      .map(([path, content]) => `${path} ${sha256(content)}`)
      .sort(),
    runs: log.split('"enclave run ended"').length - 1,
    running: running.map(({ pid }) => pid),
    nonce,
    balance,
    server: sandbox.server().pid,
  }
}

/** The narrator's place on the chain and the look at the disk, which move by themselves. */
const MOVING = /^state\/open\/(?:narrator|readiness)$/

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}
