import { gasRowSchema } from '../../src/server/relay/gasBudget.js'
import { createGasLedger, type GasLedger } from '../../src/server/relay/gasLedger.js'

const DAY_MS = 86_400_000

/**
 * The shared count of gas, as its rows have it. Tests write less than one round of them.
 * @param docOf reads a row of `state`
 */
export async function storedGas(docOf: (id: string) => Promise<string | undefined> | string | undefined) {
  let ledger: GasLedger | undefined
  for (let row = 0; ; row++) {
    const doc = await docOf(`relay-gas:${row}`)
    if (doc === undefined) break
    const { version } = gasRowSchema.parse(JSON.parse(doc))
    const { day } = 'count' in version ? version.count : version.change
    ledger ??= createGasLedger(() => day * DAY_MS)
    ledger.merge(version)
  }
  const value = ledger?.next(0n, true).value
  return value !== undefined && 'count' in value ? value.count : undefined
}
