import type { Transaction } from 'ethers'
import { sameAddress } from '../../../src/protocol/address.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { storedRows, storedText } from '../../support/storedRows.js'

/** Watches the write-ahead line: what leaves the server is on its disk. */
export function createWriteAheadWatch(options: {
  dataDir: string
  relayer: string
  digestOf: (calldata: string) => Hex | undefined
}) {
  const { dataDir, relayer, digestOf } = options
  const violations: string[] = []
  return {
    violations,
    leaves({ data, to, serialized, nonce }: Transaction): void {
      if (to !== null && sameAddress(to, relayer)) {
        if (!isNoOpStored(dataDir, serialized))
          violations.push(`nonce ${nonce}: a no-op, sent before it was saved`)
        return
      }
      const digest = digestOf(data)
      if (digest === undefined) violations.push(`nonce ${nonce}: a transaction that nobody asked for`)
      else if (!isStored(dataDir, digest, serialized)) violations.push(`${digest}: sent before it was saved`)
    },
  }
}

function isStored(dataDir: string, digest: Hex, raw: string): boolean {
  return storedText(dataDir, 'relays', digest)?.includes(raw) === true
}

/** By itself where it fills a gap, and with its authorization where it takes the place of a call. */
function isNoOpStored(dataDir: string, raw: string): boolean {
  const rows = [...storedRows(dataDir, 'state'), ...storedRows(dataDir, 'relays')]
  return rows.some(({ doc }) => doc.includes(raw))
}
