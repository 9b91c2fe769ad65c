// The two pages must be enough to write a client from, so what they state is checked against the code and to the frozen vectors.
import { readdirSync, readFileSync } from 'node:fs'
import { Interface, TypedDataEncoder, type TypedDataField } from 'ethers'
import { describe, expect, it } from 'vitest'
import { confidentialLedgerAbi } from '../../src/chain/generated/confidentialLedgerAbi.js'
import { equityTokenAbi } from '../../src/chain/generated/equityTokenAbi.js'
import { institutionRegistryAbi } from '../../src/chain/generated/institutionRegistryAbi.js'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import { erc20Abi } from '../../src/client/erc20.js'
import { ESCROW_ABI } from '../../src/client/escrowAbi.js'
import { noticeCodes } from '../../src/enclave/notices.js'
import { authorizationTargets, authorizationTypes } from '../../src/protocol/authorizationTypes.js'
import { cancelIntentTypes, sealedCancelTypes } from '../../src/protocol/cancelIntent.js'
import { MAX_CANCEL_BYTES, MAX_ORDER_BYTES, MAX_POLICY_BYTES } from '../../src/protocol/envelopeForm.js'
import { intentTypes, limitIntentTypes } from '../../src/protocol/intent.js'
import { receiveWithAuthorizationTypes, requestOpeningTypes } from '../../src/protocol/opening.js'
import { policyIntentTypes } from '../../src/protocol/policyIntent.js'
import { PORTFOLIO_KEY_MESSAGE } from '../../src/protocol/portfolioKey.js'
import { sealedRulebookTypes } from '../../src/protocol/sealedRulebook.js'
import { CURVE_ORDER } from '../../src/protocol/signature.js'
import { PROBLEMS } from '../../src/server/http/problemCodes.js'

/** Without the spaces that align the tables' columns. */
const page = ['protocol', 'attestation']
  .map((name) => readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8'))
  .join('\n')
  .replace(/ +\|/g, ' |')
const vectorsFolder = new URL('../vectors/', import.meta.url)

/** A place in a vector file. */
interface Place {
  file: string
  pointer: string
}

/** The places that a paragraph about vectors names: a file, then pointers into it. */
function placesIn(paragraph: string): Place[] {
  let file = ''
  return [...paragraph.matchAll(/`(?:(\w+)\.json|(\/[^`]*))`/g)].flatMap(([, name, pointer]) => {
    file = name ?? file
    return pointer === undefined ? [] : [{ file, pointer }]
  })
}
const paragraphs = page.split('\n\n').filter((text) => text.startsWith('**Vector** ['))
const places = paragraphs.flatMap(placesIn)

const EXAMPLE = /^\*\*Vector\*\* (\[.*\]\(.*\) `\/[^`]*`)(?:: (.+))?\n\n```json\n([\s\S]*?)\n```$/gm
/** Values that the page shows: a place, and members of its value; none: all of it. */
const examples = [...page.matchAll(EXAMPLE)].flatMap(([, place = '', picks = '', json = '']) =>
  placesIn(place).map((named) => ({
    ...named,
    picks: [...picks.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
    json,
  })),
)

function vectorFile(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`${name}.json`, vectorsFolder), 'utf8'))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

const pathOf = (pointer: string) => pointer.split('/').filter((part) => part !== '')

function valueAt({ file, pointer }: Place, picks: string[] = []): unknown {
  const value = pathOf(pointer).reduce<unknown>(
    (inner, key) => (isObject(inner) ? inner[key] : undefined),
    vectorFile(file),
  )
  if (picks.length === 0 || !isObject(value)) return value
  return Object.fromEntries(picks.map((name) => [name, value[name]]))
}

/** Names between backticks in the first column of the table rows of a section. */
function firstColumn(section: string): string[] {
  const [, text = ''] = page.split(`\n## ${section}\n`)
  const [body = ''] = text.split('\n## ')
  return [...body.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, name = '']) => name)
}

describe('the vectors on the page', () => {
  it.each(places)('$file has $pointer', (place) => {
    expect(valueAt(place)).toBeDefined()
  })

  it.each(examples)('$file has at $pointer the $picks that are shown', ({ json, picks, ...place }) => {
    expect(JSON.parse(json)).toEqual(valueAt(place, picks))
  })

  it('are compared wherever a value is shown', () => {
    const shown = page.split('\n\n').filter((_, at, all) => all[at + 1]?.startsWith('```json\n'))
    expect(examples).toHaveLength(shown.filter((text) => text.startsWith('**Vector**')).length)
  })

  const files = readdirSync(vectorsFolder).filter((name) => name.endsWith('.json'))
  it.each(files)('leave nothing of %s out', (name) => {
    const file = name.replace(/\.json$/, '')
    const named = places.filter((place) => place.file === file).map(({ pointer }) => pathOf(pointer)[0])
    const missing = Object.keys(Object(vectorFile(file))).filter((member) => !named.includes(member))
    expect(named.includes(undefined) ? [] : missing).toEqual([])
  })
})

const encodeType = (name: string, fields: TypedDataField[]) =>
  TypedDataEncoder.from({ [name]: fields }).encodeType(name)

const signed = {
  ...intentTypes,
  ...limitIntentTypes,
  ...policyIntentTypes,
  ...sealedRulebookTypes,
  ...cancelIntentTypes,
  ...sealedCancelTypes,
  ...receiveWithAuthorizationTypes,
  ...requestOpeningTypes,
}
it.each(Object.entries(signed))('docs/protocol.md has the types and names of %s', (name, fields) => {
  expect(page).toContain(`\n${encodeType(name, fields)}\n`)
})

it.each(Object.entries(authorizationTargets))(
  'docs/protocol.md has the types and names of %s',
  (name, { contract, method }) => {
    const fields = Object.entries(authorizationTypes).find(([key]) => key === name)?.[1] ?? []
    const line = page.split('\n').find((text) => text.startsWith(`${contract}.${method} `))
    expect(line?.split(/ {2,}/)[1]).toBe(encodeType(name, fields))
  },
)

const interfaces: Record<string, Interface> = {
  USDC: new Interface(erc20Abi),
  OrderEscrow: new Interface(orderEscrowAbi),
  ConfidentialLedger: new Interface(confidentialLedgerAbi),
  InstitutionRegistry: new Interface(institutionRegistryAbi),
  EquityToken: new Interface(equityTokenAbi),
}
const functions = [...page.matchAll(/^\| (\w*[a-z]\w*|USDC) \| `(\w+)(\(.*\).*)` \|$/gm)]

it('docs/protocol.md has the functions that a client calls, as they are compiled', () => {
  expect(functions).toHaveLength(32)
  for (const [, contract = '', name = '', rest = ''] of functions) {
    const stated = Interface.from([`function ${name}${rest}`]).getFunction(name)
    const compiled = interfaces[contract]?.getFunction(name)
    expect(stated?.format('sighash'), name).toBe(compiled?.format('sighash'))
    expect(stated?.stateMutability, name).toBe(compiled?.stateMutability)
    expect(stated?.outputs.map(({ type }) => type)).toEqual(compiled?.outputs.map(({ type }) => type))
  }
})

const errors = [...page.matchAll(/^\| `(\w+)\((.*)\)` \| `(0x[0-9a-f]{8})` \|/gm)]

it('docs/protocol.md has the errors that a client meets, as they are compiled', () => {
  expect(errors).toHaveLength(15)
  for (const [, name = '', inputs = '', selector = ''] of errors) {
    const error = new Interface(ESCROW_ABI).getError(name)
    expect([error?.selector, error?.format('full')]).toEqual([selector, `error ${name}(${inputs})`])
  }
})

it('docs/protocol.md lists every notice', () => {
  expect(firstColumn('10. Notice')).toEqual([...noticeCodes])
})

it('docs/protocol.md names codes that the server knows', () => {
  const rows = [...page.matchAll(/^\| \d{3}(?:, \d{3})? \| (`[^|]+`) \|/gm)]
  const codes = rows.flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([a-z-]+)`/g)].map(([, code = '']) => code),
  )
  expect(codes.length).toBeGreaterThan(10)
  expect(codes.filter((code) => !(code in PROBLEMS))).toEqual([])
})

it('docs/protocol.md states the limits and constants of the code', () => {
  expect(page).toContain(`0x${CURVE_ORDER.toString(16)}`)
  expect(page).toContain(PORTFOLIO_KEY_MESSAGE)
  for (const limit of [MAX_ORDER_BYTES, MAX_POLICY_BYTES, MAX_CANCEL_BYTES])
    expect(page).toContain(limit.toLocaleString('en'))
})
