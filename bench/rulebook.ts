import { exceptionsOf, readEmployeeFile, rulebookChanges, rulesOfRows } from '../src/client/admin.js'
import type { Policy } from '../src/client/index.js'
import { decodePolicy, encodePolicy } from '../src/protocol/compactPolicy.js'
import { ledgerKey, openBlobBytes, sealBlobBytes } from '../src/protocol/ledgerBlob.js'
import { memberRules, policyHash } from '../src/protocol/policy.js'
import { EQUITIES } from '../src/sandbox/settings.js'
import { bar, type Figure, type Turn } from './support/figure.js'

const EMPLOYEES = 10_000
const SYMBOLS = EQUITIES.map(({ symbol }) => symbol)
/** What an order may cost the enclave for its rule, in ms of CPU. */
const ORDER_MS = 2
/** Lookups in a round: one is too short for the clock. */
const ORDERS = 10_000

const addressOf = (at: number) => `0x${at.toString(16).padStart(40, '0')}`

/** CPU of an act of this process, in milliseconds. */
const cpuOf =
  (act: () => unknown, times = 1): Turn =>
  async () => {
    const before = process.cpuUsage()
    await act()
    const { user, system } = process.cpuUsage(before)
    return { 'least CPU ms': (user + system) / 1_000 / times }
  }

/** What a rulebook of ten thousand employees who all differ costs the enclave, and the page and the command line of its admin. */
export const rulebook: Figure = {
  name: 'rulebook',
  title: `A rulebook of ${EMPLOYEES} employees`,
  async prepare() {
    const lines = Array.from({ length: EMPLOYEES }, (_, at) => {
      const restricted = [0, 1, 2].map((step) => SYMBOLS[(at + step) % SYMBOLS.length])
      return `${addressOf(at)},Employee ${at},${at % 2 === 0 ? 'yes' : 'no'},yes,${restricted.join(' ')}`
    })
    const text = ['wallet,name,buy,sell,restricted', ...lines].join('\r\n')
    const common = { maxOrderNotional: 25_000_000_000n, allowWithdrawShares: true }
    const none: Policy = {
      employees: {},
      default: { canBuy: false, canSell: true, restricted: [] },
      ...common,
    }
    const read = async () => (await readEmployeeFile(text, { symbols: SYMBOLS, groups: [] })).rows
    const policy = exceptionsOf({ ...none, employees: rulesOfRows(await read(), none) })
    const encoded = encodePolicy(policy)
    const id = `0x${'01'.repeat(32)}` as const
    const key = ledgerKey(new Uint8Array(32).fill(7), 'org', id)
    const place = { chainId: 1, ledger: `0x${'02'.repeat(20)}`, id, version: 1n } as const
    const blob = await sealBlobBytes(encoded, key, place)
    const lookUp = () => {
      for (let at = 0; at < ORDERS; at++) memberRules(policy, addressOf(at))
    }
    return {
      rows: {
        'enclave: an order': cpuOf(lookUp, ORDERS),
        'enclave: the first order of a version': cpuOf(async () =>
          decodePolicy(await openBlobBytes(blob, key, place)),
        ),
        'admin: read the CSV file': cpuOf(read),
        'admin: compare with an equal one': cpuOf(() => rulebookChanges(policy, policy)),
        'admin: compare with none': cpuOf(() => rulebookChanges(null, policy)),
        'admin: hash': cpuOf(() => policyHash(policy)),
        'admin: encode': cpuOf(() => encodePolicy(policy)),
      },
      bars: [bar('least CPU ms', 'enclave: an order', { atMost: ORDER_MS })],
      notes: [`${encoded.length} bytes encoded, all employees differ from the default`],
    }
  },
}
