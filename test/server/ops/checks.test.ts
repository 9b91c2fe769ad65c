import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import * as z from 'zod'
import { createNarratorProgress } from '../../../src/server/narrator/poll.js'
import {
  createCheck,
  createRelayerView,
  createStoreView,
  inspectEnclave,
  inspectLeases,
  inspectNarrator,
} from '../../../src/server/ops/checks.js'
import type { RelayHealth } from '../../../src/server/relay/account.js'
import { createStateDocument } from '../../../src/server/store/documents.js'
import type { Durability } from '../../../src/server/store/engine.js'
import { createLogLines } from '../../support/logLines.js'
import { openStores } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

test('a check that throws is unhealthy, and logged without the words of the failure', async () => {
  const log = createLogLines()
  const inspect = async () => {
    throw new TypeError('canary')
  }
  const check = createCheck('disk', inspect, log.logger)
  expect(await check()).toEqual({ status: 'unhealthy', reason: 'check-failed' })
  expect(log.lines()).toMatchObject([{ msg: 'check failed', service: 'disk', errorName: 'TypeError' }])
  expect(log.text()).not.toContain('canary')
})

test('an enclave of the server’s own needs a program, and a configuration that no one else can read', async () => {
  const directory = await temporaryDirectory()
  const at = (name: string) => join(directory, name)
  await writeFile(at('main.js'), '')
  await writeFile(at('enclave.env'), 'LEDGER_MASTER_KEY=canary\n', { mode: 0o600 })
  await mkdir(at('folder'))
  await symlink(at('main.js'), at('link'))
  const inspect = (program = at('main.js'), envFile = at('enclave.env')) =>
    inspectEnclave({ program, envFile })()
  for (const program of [at('main.js'), at('link')]) expect(await inspect(program)).toBeNull()
  for (const program of [at('none.js'), at('folder'), ''])
    expect(await inspect(program), program).toBe('enclave-program-missing')
  for (const envFile of [at('none.env'), at('folder')])
    expect(await inspect(undefined, envFile)).toBe('enclave-configuration-unreadable')
  for (const mode of [0o644, 0o640, 0o602]) {
    await chmod(at('enclave.env'), mode)
    expect(await inspect()).toBe('enclave-configuration-shared')
  }
})

test('the relayer is healthy, or its check says what it lacks, the worst first', async () => {
  const ACCOUNT = { address: `0x${'11'.repeat(20)}`, balance: 100n, isFunded: true } as const
  const account = (change: Partial<RelayHealth['account']>) => ({ account: { ...ACCOUNT, ...change } })
  const limits = { perDay: 120_000_000n, reserve: 20_000_000n }
  const fine: RelayHealth = {
    ...{ account: ACCOUNT, minBalance: 10n, inFlight: 0, queued: 0, booked: 0n, isKeyShared: false },
    ...{ gasRemaining: limits.perDay - limits.reserve, reserveRemaining: limits.reserve },
  }
  for (const [change, found] of [
    [{}, null],
    [account({ balance: 20n }), null],
    [account({ balance: 19n }), 'balance-low'],
    [{ ...account({ isFunded: false }), gasRemaining: 0n }, 'relayer-underfunded'],
    [{ gasRemaining: 0n, reserveRemaining: 299_999n }, 'gas-reserve-used-up'],
    [{ gasRemaining: 299_999n, ...account({ balance: 19n }) }, 'gas-budget-used-up'],
    [{ isKeyShared: true, ...account({ balance: 19n }) }, 'key-used-elsewhere'],
    [{ gasRemaining: 10_000_000n }, null],
    [{ gasRemaining: 9_999_999n }, 'gas-budget-low'],
  ] as const)
    expect(await createRelayerView(async () => ({ ...fine, ...change }), limits).inspect()).toBe(found)
})

test('the store lacks its standby where commits wait for one, and is not durable where a crash takes them back', async () => {
  const { engine } = await openStores(await temporaryDirectory())
  const { logger } = createLogLines()
  const document = createStateDocument({ engine, logger, id: 'readiness', schema: z.int() })
  let durability: Durability = { fault: null, waitsForStandby: true, standbys: 0 }
  const store = createStoreView(document, { durability: async () => durability })
  expect(await store.inspect()).toBe('standby-missing')
  // It would wait for the standby.
  expect(await engine.get('state', 'readiness')).toBeUndefined()
  durability = { ...durability, standbys: 1 }
  expect(await store.inspect()).toBeNull()
  expect(store.standbys()).toBe(1)
  // One that nothing waits for may be away.
  durability = { fault: null, waitsForStandby: false, standbys: 0 }
  expect(await store.inspect()).toBeNull()
  durability = { ...durability, fault: 'synchronous_commit = off' }
  expect(await store.inspect()).toBe('store-not-durable')
})

test('the leases are each held by a living server', async () => {
  const { engine } = await openStores(await temporaryDirectory())
  const inspect = inspectLeases(engine.leases, ['narrator', 'trigger'])
  const narrator = await engine.leases.take('narrator', 'one', 60_000)
  expect(await inspect()).toBe('lease-not-served')
  await engine.leases.take('trigger', 'another', 60_000)
  expect(await inspect()).toBeNull()
  if (narrator !== undefined) await engine.leases.renew(narrator, 0)
  expect(await inspect()).toBe('lease-not-served')
})

test('the narrator may be silent for half a minute, for its reader too, and is behind when a poll leaves blocks unread', async () => {
  let now = 1_000
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  onTestFinished(() => void vi.restoreAllMocks())
  const progress = createNarratorProgress()
  const inspect = inspectNarrator(progress)
  const after = async (ms: number) => {
    now += ms
    return inspect()
  }
  Object.assign(progress, { isNarrating: true, atMs: now })
  expect(await after(30_000)).toBeNull()
  expect(await after(1)).toBe('narration-stalled')
  progress.isPrinting = true
  expect(await after(0)).toBe('narration-unread')
  progress.isPrinting = false
  Object.assign(progress, { atMs: now, last: { block: 7, lag: 0 } })
  expect(await after(30_000)).toBeNull()
  expect(await after(1)).toBe('narration-stalled')
  Object.assign(progress, { atMs: now, last: { block: 7, lag: 1 } })
  expect(await after(0)).toBe('narration-behind')
  // Another server narrates.
  progress.isNarrating = false
  expect(await after(30_001)).toBeNull()
})
