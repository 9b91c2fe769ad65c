import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Hex } from '../../../src/protocol/hex.js'
import { createGasBudget } from '../../../src/server/relay/gasBudget.js'
import { createAtomicFiles } from '../../../src/server/store/atomicFiles.js'
import { StorageError } from '../../../src/server/store/storageError.js'
import { createLogLines } from '../../support/logLines.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const DAY_MS = 86_400_000
const digest = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`

async function budgetOf(gasPerDay: bigint, root?: string) {
  const dataDir = root ?? (await temporaryDirectory())
  const clock = { ms: 20_000 * DAY_MS + 1_000 }
  const log = createLogLines()
  const files = createAtomicFiles({ root: dataDir })
  const budget = createGasBudget({ files, gasPerDay, now: () => clock.ms, logger: log.logger })
  await budget.service.start()
  return { budget, clock, dataDir, log }
}

const refusal = { code: 'relay-budget-exhausted', status: 503 }

describe('the gas of a day', () => {
  test('is what was used and what is set aside', async () => {
    const { budget } = await budgetOf(1_000n)
    await budget.reserve(digest(1), 600n)
    await expect(budget.reserve(digest(2), 401n)).rejects.toMatchObject(refusal)
    budget.spend(digest(1), 300n)
    expect(budget.left()).toBe(700n)
    await budget.reserve(digest(2), 700n)
    expect(budget.left()).toBe(0n)
  })

  test('begins anew at midnight, but for what is still set aside; a refusal says when', async () => {
    const { budget, clock } = await budgetOf(1_000n)
    await budget.reserve(digest(1), 600n)
    budget.spendOther(300n)
    await expect(budget.reserve(digest(2), 400n)).rejects.toMatchObject({
      ...refusal,
      headers: { 'Retry-After': String(DAY_MS / 1_000 - 1) },
    })
    clock.ms += DAY_MS - 1_000
    expect(budget.left()).toBe(400n)
    await budget.reserve(digest(2), 400n)
  })

  test('is remembered by the next process, whether this one was stopped or killed', async () => {
    const first = await budgetOf(1_000_000n)
    await first.budget.reserve(digest(1), 300_000n)
    const killed = await budgetOf(1_000_000n, first.dataDir)
    expect(killed.budget.left()).toBeLessThanOrEqual(700_000n)
    expect(killed.budget.left()).toBeGreaterThanOrEqual(699_000n)
    first.budget.spend(digest(1), 200_000n)
    await first.budget.service.stop()
    expect((await budgetOf(1_000_000n, first.dataDir)).budget.left()).toBe(800_000n)
  })

  test('is not remembered on another day', async () => {
    const { budget, dataDir } = await budgetOf(1_000n)
    await budget.reserve(digest(1), 600n)
    const file = join(dataDir, 'relay-gas.json')
    const stored: { day: number } = JSON.parse(await readFile(file, 'utf8'))
    await writeFile(file, JSON.stringify({ ...stored, day: stored.day - 1 }))
    expect((await budgetOf(1_000n, dataDir)).budget.left()).toBe(1_000n)
  })

  test('is written once for many, and always ahead of what is used', async () => {
    const { budget, dataDir } = await budgetOf(10_000_000n)
    const seen = new Set<string>()
    for (let each = 1; each <= 100; each++) {
      await budget.reserve(digest(each), 1_000n)
      const text = await readFile(join(dataDir, 'relay-gas.json'), 'utf8')
      seen.add(text)
      expect(Number(JSON.parse(text).gas)).toBeGreaterThanOrEqual(each * 1_000)
    }
    expect(seen.size).toBeLessThan(12)
  })

  test('starts from nothing where the file is unreadable', async () => {
    const dataDir = await temporaryDirectory()
    await writeFile(join(dataDir, 'relay-gas.json'), '{"day":')
    const { budget, log } = await budgetOf(1_000n, dataDir)
    expect(budget.left()).toBe(1_000n)
    expect(log.text()).toContain('cannot be parsed')
  })

  test('of what could not be written is not set aside', async () => {
    const dataDir = await temporaryDirectory()
    const { budget } = await budgetOf(1_000n, join(dataDir, 'file'))
    await writeFile(join(dataDir, 'file'), '')
    await expect(budget.reserve(digest(1), 600n)).rejects.toThrow(StorageError)
    expect(budget.left()).toBe(1_000n)
  })
})
