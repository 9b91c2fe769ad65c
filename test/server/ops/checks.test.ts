import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { createNarratorProgress } from '../../../src/server/narrator/poll.js'
import {
  createRelayerView,
  createStoreView,
  enclaveLook,
  leasesLook,
  narratorLook,
} from '../../../src/server/ops/checks.js'
import type { AccountHealth, RelayHealth } from '../../../src/server/relay/accounts.js'
import { createStateDocument } from '../../../src/server/store/documents.js'
import { type Durability, type Engine, storageError } from '../../../src/server/store/engine.js'
import { eventually } from '../../support/eventually.js'
import { createLogLines } from '../../support/logLines.js'
import { openStores } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

describe('the enclave', () => {
  /** A directory with a program, a folder and a configuration in it. */
  async function setUp() {
    const directory = await temporaryDirectory()
    const at = (name: string) => join(directory, name)
    await writeFile(at('main.js'), '')
    await writeFile(at('enclave.env'), 'LEDGER_MASTER_KEY=canary\n', { mode: 0o600 })
    await mkdir(at('folder'))
    const look = (program = at('main.js'), envFile = at('enclave.env')) => enclaveLook({ program, envFile })()
    return { at, look }
  }

  test('is healthy when its program is a file, or a link to one', async () => {
    const { at, look } = await setUp()
    await symlink(at('main.js'), at('link'))
    for (const program of [at('main.js'), at('link')]) expect(await look(program)).toBeNull()
  })

  test('is unhealthy where its program is no file', async () => {
    const { at, look } = await setUp()
    for (const program of [at('none.js'), at('folder'), '']) {
      expect(await look(program), program).toBe('enclave-program-missing')
    }
  })

  test('cannot run without its configuration', async () => {
    const { at, look } = await setUp()
    for (const envFile of [at('none.env'), at('folder')])
      expect(await look(undefined, envFile)).toBe('enclave-configuration-unreadable')
  })

  test('does not run with a configuration that other users can read', async () => {
    const { at, look } = await setUp()
    for (const mode of [0o644, 0o640, 0o602]) {
      await chmod(at('enclave.env'), mode)
      expect(await look()).toBe('enclave-configuration-shared')
    }
  })
})

describe('the relayer', () => {
  const GAS_PER_DAY = 100_000_000n
  const RESERVE = 20_000_000n
  const ACCOUNT = { address: `0x${'11'.repeat(20)}`, balance: 100n, isFunded: true } as const
  const accounts = (...changes: Partial<AccountHealth>[]) => ({
    accounts: changes.map((change) => ({ ...ACCOUNT, ...change })),
  })
  const fine: RelayHealth = {
    accounts: [ACCOUNT],
    minBalance: 10n,
    inFlight: 0,
    queued: 0,
    gasLeft: GAS_PER_DAY,
    reserveLeft: RESERVE,
    booked: 0n,
    isKeyShared: false,
  }
  const view = (health: () => Promise<RelayHealth>) =>
    createRelayerView({ health, gas: { perDay: GAS_PER_DAY + RESERVE, reserve: RESERVE } })
  const look = (change: Partial<RelayHealth>) => view(async () => ({ ...fine, ...change })).look()

  test('is healthy, or says what it lacks, the worst first', async () => {
    expect(await look({})).toBeNull()
    expect(await look(accounts({ balance: 20n }))).toBeNull()
    expect(await look(accounts({ balance: 19n }))).toBe('balance-low')
    expect(await look({ ...accounts({ isFunded: false }), gasLeft: 0n })).toBe('relayer-underfunded')
    expect(await look(accounts({ isFunded: false }, { isFunded: false }))).toBe('relayer-underfunded')
    expect(await look(accounts({}, { isFunded: false }))).toBe('balance-low')
    expect(await look({ gasLeft: 0n, reserveLeft: 299_999n })).toBe('gas-reserve-used-up')
    expect(await look({ gasLeft: 299_999n, ...accounts({ balance: 19n }) })).toBe('gas-budget-used-up')
    expect(await look({ isKeyShared: true, ...accounts({ balance: 19n }) })).toBe('key-used-elsewhere')
    expect(await look({ gasLeft: 10_000_000n })).toBeNull()
    expect(await look({ gasLeft: 9_999_999n })).toBe('gas-budget-low')
  })

  test('has a line for each account, which says whether that one is low', async () => {
    const [poor, rich] = [`0x${'22'.repeat(20)}`, `0x${'33'.repeat(20)}`] as const
    const relayer = view(async () => ({
      ...fine,
      ...accounts({ address: poor, balance: 19n }, { address: rich }, { isFunded: false }),
    }))
    expect(await Promise.all([poor, rich, ACCOUNT.address].map((one) => relayer.lookAt(one)))).toEqual([
      'balance-low',
      null,
      'balance-low',
    ])
  })

  test('has a balance only while it can be looked up', async () => {
    let fails = false
    const relayer = view(async () => {
      if (fails) throw new Error('no node')
      return fine
    })
    expect(relayer.accounts()).toEqual([])
    await relayer.look()
    expect(relayer.accounts()).toEqual([ACCOUNT])
    fails = true
    await eventually('a new look', () =>
      relayer.look().then(
        () => false,
        () => true,
      ),
    )
    expect(relayer.accounts()).toEqual([])
  })
})

describe('the store', () => {
  function lookAt(engine: Engine) {
    const { logger } = createLogLines()
    const document = createStateDocument({ engine, logger, id: 'readiness', schema: z.int() })
    return createStoreView({ document, engine })
  }

  test('lacks its standby where commits wait for one, and asks for no write then', async () => {
    const { engine } = await openStores(await temporaryDirectory())
    let durability: Durability = { fault: null, waitsForStandby: true, standbys: 0 }
    const { look, standbys } = lookAt({ ...engine, durability: async () => durability })
    expect(await look()).toBe('standby-missing')
    expect(await engine.get('state', 'readiness')).toBeUndefined()
    durability = { ...durability, standbys: 1 }
    expect(await look()).toBeNull()
    expect(standbys()).toBe(1)
    // One that nothing waits for may be away.
    durability = { fault: null, waitsForStandby: false, standbys: 0 }
    expect(await look()).toBeNull()
  })

  test('is not durable once its database answers commits that a crash may take back', async () => {
    const { engine } = await openStores(await temporaryDirectory())
    const fault = 'synchronous_commit = off'
    const { look } = lookAt({
      ...engine,
      durability: async () => ({ fault, waitsForStandby: false, standbys: 0 }),
    })
    expect(await look()).toBe('store-not-durable')
    expect((await engine.get('state', 'readiness'))?.version).toBe(1)
  })
})

describe('the leases', () => {
  test('are each held by a living server', async () => {
    const { engine } = await openStores(await temporaryDirectory())
    const look = leasesLook(engine.leases, ['narrator', 'trigger'])
    const narrator = await engine.leases.take('narrator', 'one', 60_000)
    expect(await look()).toBe('lease-not-held')
    await engine.leases.take('trigger', 'another', 60_000)
    await engine.leases.take('server:one', 'one', 0)
    expect(await look()).toBeNull()
    if (narrator !== undefined) await engine.leases.renew(narrator, 0)
    expect(await look()).toBe('lease-not-held')
  })

  test('are not blamed for a store that cannot be read', async () => {
    const list = () => Promise.reject(storageError('ECONNREFUSED'))
    expect(await leasesLook({ list }, ['narrator'])()).toBeNull()
  })
})

describe('the narrator', () => {
  function setUp(intervalMs: number) {
    let now = 1_000
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    onTestFinished(() => {
      vi.restoreAllMocks()
    })
    const progress = createNarratorProgress()
    progress.begin()
    const pass = (ms: number) => {
      now += ms
    }
    return { progress, pass, look: narratorLook({ progress, intervalMs }) }
  }

  test('may be silent for half a minute, from its start and from each look', async () => {
    const { progress, pass, look } = setUp(2_000)
    pass(30_000)
    expect(await look()).toBeNull()
    pass(1)
    expect(await look()).toBe('narration-stalled')
    progress.note({ block: 7, lag: 0 })
    expect(await look()).toBeNull()
    pass(30_001)
    expect(await look()).toBe('narration-stalled')
  })

  test('waits for the reader of its lines, and not for the node', async () => {
    const { progress, pass, look } = setUp(2_000)
    progress.notePrinting(true)
    pass(30_000)
    expect(await look()).toBeNull()
    pass(1)
    expect(await look()).toBe('narration-unread')
    progress.notePrinting(false)
    expect(await look()).toBe('narration-stalled')
  })

  test('may be silent for longer where it looks seldom', async () => {
    const { pass, look } = setUp(60_000)
    pass(300_000)
    expect(await look()).toBeNull()
    pass(1)
    expect(await look()).toBe('narration-stalled')
  })

  test('says nothing here while another server narrates', async () => {
    const { progress, pass, look } = setUp(2_000)
    progress.note({ block: 7, lag: 1 })
    progress.end()
    pass(30_001)
    expect(await look()).toBeNull()
    progress.begin()
    expect(await look()).toBeNull()
    pass(30_001)
    expect(await look()).toBe('narration-stalled')
  })

  test('is behind when a look leaves blocks unread, and not when its node is', async () => {
    const { progress, look } = setUp(2_000)
    progress.note({ block: 7, lag: 1 })
    expect(await look()).toBe('narration-behind')
    progress.note({ block: 8, lag: 0 })
    expect(await look()).toBeNull()
  })
})
