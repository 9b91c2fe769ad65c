import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { prepareDirectory } from '../../src/sandbox/directory.js'
import { claimPorts } from '../../src/sandbox/ports.js'
import { startHttpServer } from '../support/httpServer.js'

let directory = ''
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sandbox-'))
})
afterEach(() => rm(directory, { recursive: true }))

describe("the sandbox's directory", () => {
  it('is emptied of what a sandbox left', async () => {
    await prepareDirectory(directory)
    await writeFile(join(directory, '.env'), 'left')
    await writeFile(join(directory, 'notes.txt'), 'mine')
    await prepareDirectory(directory)
    expect((await readdir(directory)).sort()).toEqual(['.sandbox', 'notes.txt'])
  })

  it('is refused, untouched, when it holds something else: a real configuration may be in it', async () => {
    await writeFile(join(directory, '.env.enclave'), 'LEDGER_MASTER_KEY=…')
    await expect(prepareDirectory(directory)).rejects.toMatchObject({ name: 'ForeignDirectoryError' })
    expect(await readdir(directory)).toEqual(['.env.enclave'])
    expect(await readFile(join(directory, '.env.enclave'), 'utf8')).toBe('LEDGER_MASTER_KEY=…')
  })
})

describe("the sandbox's ports", () => {
  it('are free ones for 0, all different', async () => {
    const { server, rpc, broker } = await claimPorts({ server: 0, rpc: 0, broker: 0 })
    expect(new Set([server, rpc, broker, 0]).size).toBe(4)
  })

  it('that are taken, or given twice, are named with the option that chooses another', async () => {
    const taken = await startHttpServer(() => {})
    const port = Number(new URL(taken.url).port)
    try {
      await expect(claimPorts({ server: 0, rpc: port, broker: 0 })).rejects.toThrow(`port ${port} is in use`)
    } finally {
      await taken.stop()
    }
    await expect(claimPorts({ server: port, rpc: 0, broker: port })).rejects.toThrow('--broker-port')
  })
})
