// The client names the functions, errors and events that it uses: they are the contracts' own.
import { Interface } from 'ethers'
import { expect, it } from 'vitest'
import { createAbi } from '../../src/chain/abi.js'
import { authorityAbi } from '../../src/chain/generated/authorityAbi.js'
import { confidentialLedgerAbi } from '../../src/chain/generated/confidentialLedgerAbi.js'
import { corporateActionsAbi } from '../../src/chain/generated/corporateActionsAbi.js'
import { equityTokenAbi } from '../../src/chain/generated/equityTokenAbi.js'
import { institutionRegistryAbi } from '../../src/chain/generated/institutionRegistryAbi.js'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import { platformPoolAbi } from '../../src/chain/generated/platformPoolAbi.js'
import * as abis from '../../src/client/abis.js'
import { EVENT_TYPES } from '../../src/client/contractEvents.js'
import { ESCROW_ABI } from '../../src/client/escrowAbi.js'
import { REGISTRY_ABI } from '../../src/client/registryAbi.js'

const LINES: readonly string[] = [
  ...[...authorityAbi, ...confidentialLedgerAbi, ...corporateActionsAbi, ...equityTokenAbi],
  ...[...institutionRegistryAbi, ...orderEscrowAbi, ...platformPoolAbi],
]

it.each(Object.entries({ ...abis, ESCROW_ABI, REGISTRY_ABI }))(
  'each line of %s is one of a contract',
  (_name, lines) => expect(lines.filter((line) => !LINES.includes(line))).toEqual([]),
)

it('each event that is looked for is one of a contract', () => {
  const events = LINES.filter((line) => line.startsWith('event ')).flatMap((line) =>
    new Interface([line]).format(),
  )
  const signatures = new Interface(events).fragments.map((fragment) => fragment.format())
  const wanted = Object.entries(EVENT_TYPES).map(([name, types]) => `${name}(${types})`)
  expect(wanted.filter((signature) => !signatures.includes(signature))).toEqual([])
})

it.each([
  ['Error', ['paused'], { 0: 'paused' }],
  ['Panic', [17n], { 0: 17n }],
])('each contract may fail with %s', (name, values, args) => {
  const data = new Interface(['error Error(string)', 'error Panic(uint256)']).encodeErrorResult(name, values)
  expect(createAbi(orderEscrowAbi).parseError(data)).toEqual({ name, args })
})
