import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type ContractKey, INTERFACES } from '../support/chain.js'

const page = readFileSync(new URL('../../docs/contracts.md', import.meta.url), 'utf8')
const KEYS: ContractKey[] = ['authority', 'registry', 'escrow', 'ledger', 'token', 'aapl', 'actions', 'pool']

/** Standards' own, which the page names by the standard. */
const STANDARD =
  /^(ERC20|ERC2612|ECDSA|CloneArgumentsTooLong|Create2EmptyBytecode|FailedDeployment|InsufficientBalance$|InvalidAccountNonce|InvalidInitialization|NotInitializing|SafeERC20|OwnableInvalidOwner|InvalidShortString|StringTooLong)/
const STANDARD_FUNCTIONS = ['approve']
const STANDARD_EVENTS = ['Approval', 'EIP712DomainChanged', 'Initialized']

describe.each(KEYS)('docs/contracts.md on %s', (key) => {
  it('names every function that changes something, every event and every error', () => {
    const names: string[] = []
    INTERFACES[key].forEachFunction((entry) => {
      if (!entry.constant && !STANDARD_FUNCTIONS.includes(entry.name)) names.push(entry.name)
    })
    INTERFACES[key].forEachEvent(({ name }) => {
      if (!STANDARD_EVENTS.includes(name)) names.push(name)
    })
    INTERFACES[key].forEachError(({ name }) => {
      if (!STANDARD.test(name)) names.push(name)
    })
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(page))).toEqual([])
  })
})

it('docs/contracts.md compares with what calls cost now', () => {
  const measured = readFileSync(new URL('../../contracts/gas.md', import.meta.url), 'utf8')
  const now = [...page.matchAll(/^\| `\w+`.*\| +[\d,]+ \| +([\d,]+) \| +[−\d,]+ \| +[−\d.]+% \|$/gm)].map(
    ([, gas]) => gas,
  )
  expect(now.length).toBeGreaterThan(10)
  expect(now.filter((gas) => !measured.includes(` ${gas} |`))).toEqual([])
})
