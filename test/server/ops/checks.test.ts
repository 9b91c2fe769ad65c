import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import request from 'supertest'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { problemSchema } from '../../../src/protocol/api.js'
import { Metrics } from '../../../src/server/metrics.js'
import { createNarratorProgress } from '../../../src/server/narrator/poll.js'
import { createOpsApp } from '../../../src/server/ops/app.js'
import {
  type CheckStatus,
  createCheck,
  createRelayerView,
  createStoreView,
  inspectEnclave,
  inspectLeases,
  inspectNarrator,
} from '../../../src/server/ops/checks.js'
import type { RelayHealth } from '../../../src/server/relay/account.js'
import { createStateDocument } from '../../../src/server/store/documents.js'
import { type Durability, storageError } from '../../../src/server/store/engine.js'
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

describe('the relayer', () => {
  const GAS_PER_DAY = 100_000_000n
  const RESERVE = 20_000_000n
  const ACCOUNT = { address: `0x${'11'.repeat(20)}`, balance: 100n, isFunded: true } as const
  const account = (change: Partial<RelayHealth['account']>) => ({ account: { ...ACCOUNT, ...change } })
  const fine: RelayHealth = {
    account: ACCOUNT,
    minBalance: 10n,
    inFlight: 0,
    queued: 0,
    gasRemaining: GAS_PER_DAY,
    reserveRemaining: RESERVE,
    booked: 0n,
    isKeyShared: false,
  }
  const view = (health: () => Promise<RelayHealth>) =>
    createRelayerView(health, { perDay: GAS_PER_DAY + RESERVE, reserve: RESERVE })
  const inspect = (change: Partial<RelayHealth>) => view(async () => ({ ...fine, ...change })).inspect()

  test('is healthy, or says what it lacks, the worst first', async () => {
    expect(await inspect({})).toBeNull()
    expect(await inspect(account({ balance: 20n }))).toBeNull()
    expect(await inspect(account({ balance: 19n }))).toBe('balance-low')
    expect(await inspect({ ...account({ isFunded: false }), gasRemaining: 0n })).toBe('relayer-underfunded')
    expect(await inspect({ gasRemaining: 0n, reserveRemaining: 299_999n })).toBe('gas-reserve-used-up')
    expect(await inspect({ gasRemaining: 299_999n, ...account({ balance: 19n }) })).toBe('gas-budget-used-up')
    expect(await inspect({ isKeyShared: true, ...account({ balance: 19n }) })).toBe('key-used-elsewhere')
    expect(await inspect({ gasRemaining: 10_000_000n })).toBeNull()
    expect(await inspect({ gasRemaining: 9_999_999n })).toBe('gas-budget-low')
  })
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

describe('the leases', () => {
  test('are each held by a living server', async () => {
    const { engine } = await openStores(await temporaryDirectory())
    const inspect = inspectLeases(engine.leases, ['narrator', 'trigger'])
    const narrator = await engine.leases.take('narrator', 'one', 60_000)
    expect(await inspect()).toBe('lease-not-served')
    await engine.leases.take('trigger', 'another', 60_000)
    expect(await inspect()).toBeNull()
    if (narrator !== undefined) await engine.leases.renew(narrator, 0)
    expect(await inspect()).toBe('lease-not-served')
  })

  test('are not blamed for a store that cannot be read', async () => {
    const list = () => Promise.reject(storageError('ECONNREFUSED'))
    expect(await inspectLeases({ list }, ['narrator'])()).toBeNull()
  })
})

test('the narrator may be silent for half a minute, for its reader too, and is behind when a poll leaves blocks unread', async () => {
  let now = 1_000
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  onTestFinished(() => {
    vi.restoreAllMocks()
  })
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

function setUp(status: CheckStatus = 'healthy') {
  const log = createLogLines()
  const { registry } = new Metrics('1.2.3')
  const app = createOpsApp(async () => ({ status, checks: {} }), registry, log.logger)
  return { app, log, registry }
}

test.each([
  ['healthy', 200],
  ['degraded', 200],
  ['unhealthy', 503],
] as const)('GET /readyz of a server that is %s is %i, with the report either way', async (status, code) => {
  const response = await request(setUp(status).app).get('/readyz')
  expect([response.status, response.body]).toEqual([code, { status, checks: {} }])
  expect(response.headers['cache-control']).toBe('private, no-cache')
  expect(response.headers['retry-after']).toBe(code === 503 ? '5' : undefined)
  expect(response.headers).not.toHaveProperty('etag')
})

test('anything else is a problem: 404, and 405 for another method than GET', async () => {
  for (const path of ['/', '/health', '/orders', '/Readyz', '/readyz/', '/metrics/']) {
    const { status, body } = await request(setUp().app).get(path)
    expect([path, status, problemSchema.parse(body).code]).toEqual([path, 404, 'not-found'])
  }
  for (const path of ['/livez', '/readyz', '/metrics']) {
    const { status, headers, body } = await request(setUp().app).post(path)
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD'])
    expect(problemSchema.parse(body)).toMatchObject({ code: 'method-not-allowed', instance: path })
  }
})

test('no probe is logged, as they come every few seconds; a defect is', async () => {
  const { app, log, registry } = setUp()
  await request(app).get('/livez')
  await request(app).get('/nowhere')
  expect(log.text()).toBe('')
  registry.metrics = async () => {
    throw new TypeError('canary')
  }
  const response = await request(app).get('/metrics')
  expect(response.body).toMatchObject({ code: 'internal-error' })
  expect(log.lines()).toMatchObject([{ msg: 'request failed', errorName: 'TypeError' }])
  expect(response.text + log.text()).not.toContain('canary')
})
