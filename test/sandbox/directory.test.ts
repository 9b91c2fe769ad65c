import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claimPorts } from '../../src/sandbox/ports.js'
import { takeDirectory } from '../../src/sandbox/sandbox.js'
import { startHttpServer } from '../support/httpServer.js'

let directory = ''
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sandbox-'))
})
afterEach(() => rm(directory, { recursive: true }))

describe("the sandbox's directory", () => {
  it('is emptied of what a sandbox left', async () => {
    const first = await takeDirectory(directory)
    await writeFile(join(directory, '.env'), 'left')
    await writeFile(join(directory, 'notes.txt'), 'mine')
    await first.release()
    const second = await takeDirectory(directory)
    await second.release()
    expect((await readdir(directory)).sort()).toEqual(['.sandbox', 'notes.txt', 'server.lock', 'server.pid'])
  })

  it('is refused, untouched, while another sandbox runs in it', async () => {
    const running = await takeDirectory(directory)
    await writeFile(join(directory, '.env'), 'in use')
    await expect(takeDirectory(directory)).rejects.toThrow(`in use by process ${process.pid}`)
    expect(await readFile(join(directory, '.env'), 'utf8')).toBe('in use')
    await running.release()
  })

  it('is refused, untouched, when it holds something else: a real configuration may be in it', async () => {
    await writeFile(join(directory, '.env.enclave'), 'LEDGER_MASTER_KEY=…')
    await expect(takeDirectory(directory)).rejects.toMatchObject({ code: 'directory-foreign' })
    expect(await readdir(directory)).toEqual(['.env.enclave'])
    expect(await readFile(join(directory, '.env.enclave'), 'utf8')).toBe('LEDGER_MASTER_KEY=…')
  })
})

describe("the sandbox's ports", () => {
  it('in use, or given twice, are named with the option that chooses another', async () => {
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
