// The code on the chain is what the recorded inputs compile to.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import solc from 'solc'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { CONTRACTS, CREATED, verificationInput } from '../../contracts/standardJson.js'
import { useChain } from '../support/chain.js'
import { deployOn, withKeys } from './operateUnderTest.js'

const chain = useChain()

/** What explorers verify: `deployments/<chainId>.json`, and the compiler's inputs. */
const recordSchema = z.object({
  chainId: z.literal(31_337),
  deployer: z.string(),
  firstBlock: z.int().positive(),
  compiler: z.object({ version: z.string(), settings: z.record(z.string(), z.unknown()) }),
  contracts: z.array(
    z.object({
      name: z.string(),
      address: z.string(),
      transactionHash: z.string(),
      constructorArguments: z.string(),
      input: z.string(),
    }),
  ),
})
const codeSchema = z.object({ object: z.string() })
const compiledSchema = z.object({
  evm: z.object({
    bytecode: codeSchema,
    deployedBytecode: codeSchema.extend({
      immutableReferences: z.record(z.string(), z.array(z.object({ start: z.int(), length: z.int() }))),
    }),
  }),
})
const outputSchema = z.object({ contracts: z.record(z.string(), z.record(z.string(), compiledSchema)) })

it('operate deploy records by which inputs explorers get the code that is on the chain', async () => {
  const directory = await withKeys()
  const { err } = await deployOn(chain(), directory)
  const record = recordSchema.parse(
    JSON.parse(await readFile(join(directory, 'deployments/31337.json'), 'utf8')),
  )
  expect(solc.version()).toContain(record.compiler.version)
  expect(record.contracts.map(({ input }) => input).sort()).toEqual(
    [...CONTRACTS, ...CREATED].map((name) => `dist/contracts/${name}.json`).sort(),
  )
  for (const { name, address, transactionHash, constructorArguments, input } of record.contracts) {
    expect(err).toMatch(
      new RegExp(`jq .*contractIdentifier: "${name}".*"${transactionHash}".* ${input} .*/31337/${address} `),
    )
    const [unit = '', contract = ''] = name.split(':')
    const standardJson = verificationInput(contract)
    expect(standardJson.settings).toMatchObject(record.compiler.settings)
    const output = outputSchema.parse(JSON.parse(solc.compile(JSON.stringify(standardJson))))
    const compiled = output.contracts[unit]?.[contract]?.evm
    const onChain = Buffer.from((await chain().provider.getCode(address)).slice(2), 'hex')
    const immutables = Object.values(compiled?.deployedBytecode.immutableReferences ?? {}).flat()
    for (const { start, length } of immutables) onChain.fill(0, start, start + length)
    expect(onChain.toString('hex'), name).toBe(compiled?.deployedBytecode.object)
    const transaction = await chain().provider.getTransaction(transactionHash)
    expect(transaction?.from).toBe(record.deployer)
    // The others are created by EquityToken's constructor.
    if (CREATED.includes(contract)) continue
    expect(transaction?.data).toBe(`0x${compiled?.bytecode.object}${constructorArguments.slice(2)}`)
  }
}, 600_000)
