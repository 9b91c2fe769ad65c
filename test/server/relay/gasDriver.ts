import { checksum } from '../../../src/protocol/address.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { createGasBudget, type GasLimits, type RemainingGas } from '../../../src/server/relay/gasBudget.js'
import { confirmed, failed, pendingRecord, withLimit } from '../../../src/server/relay/record.js'
import type { Engine } from '../../../src/server/store/engine.js'
import { createReceiptStore, type GasPurpose, type RelayRecord } from '../../../src/server/store/receipts.js'
import { createLogLines } from '../../support/logLines.js'

export const PLATFORM: GasPurpose = { kind: 'platform' }
export const ALICE = checksum(`0x${'a1'.repeat(20)}`)
export const BOB = checksum(`0x${'b0'.repeat(20)}`)

export const digest = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`
export const hold = (order: number, account = ALICE): GasPurpose => ({
  kind: 'hold',
  orderId: digest(order),
  account,
})
export const finish = (order: number, account = ALICE): GasPurpose => ({
  kind: 'finish',
  orderId: digest(order),
  account,
})

/** The gas of authorizations, as their jobs write it. */
export function createGasDriver(options: { engine: Engine; limits: GasLimits; now: () => number }) {
  const { engine } = options
  const { logger } = createLogLines()
  const store = createReceiptStore({ engine, logger })
  const budget = createGasBudget({ ...options, store, logger })

  function newRecord(digest: Hex, purpose: GasPurpose, earlier?: RelayRecord): RelayRecord {
    const call = {
      primaryType: 'PortfolioUpdate',
      target: `0x${'11'.repeat(20)}`,
      data: '0x01020304',
    } as const
    return pendingRecord({ digest, purpose, ...call }, undefined, earlier)
  }

  async function change(digest: Hex, next: (record: RelayRecord) => RelayRecord): Promise<void> {
    const stored = await store.find(digest)
    if (stored === undefined || !(await budget.put(next(stored.record), stored)))
      throw new Error('not the stored version')
  }

  return {
    ...budget,
    /** An authorization that comes, or is sent again. */
    async reserve(digest: Hex, purpose: GasPurpose, gas: bigint, bookable?: bigint): Promise<void> {
      const stored = await store.find(digest)
      const isUnderWay = stored !== undefined && stored.record.receipt.status !== 'failed'
      const record = isUnderWay ? stored.record : newRecord(digest, purpose, stored?.record)
      if (!(await budget.put(withLimit(record, gas), stored, bookable))) throw new Error('another version')
    },
    /** One of its transactions was mined. */
    spend: (digest: Hex, used: bigint, excused = 0n) =>
      change(digest, (record) => {
        const { gas } = record
        const counted = { used: gas.used + used, excused: gas.excused + excused }
        return { ...record, gas: { setAside: 0n, ...counted } }
      }),
    /** Makes its record final; one that another party brought to the chain may have none. */
    async end(digest: Hex, purpose: GasPurpose, isConfirmed: boolean): Promise<void> {
      const stored = await store.find(digest)
      const record = stored?.record ?? newRecord(digest, purpose)
      const next = isConfirmed ? confirmed(record, null) : failed(record, null, { name: 'Failed', args: {} })
      if (!(await budget.put(next, stored))) throw new Error('another version')
    },
    assertFits: (digest: Hex, purpose: GasPurpose, gas: bigint) =>
      budget.assertRoom(withLimit(newRecord(digest, purpose), gas)),
    async rest(): Promise<RemainingGas> {
      await budget.refresh()
      return budget.remaining()
    },
  }
}
