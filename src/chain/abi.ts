// Calls and answers of a contract, by its lines in the words of Solidity and by ethers' coder. For pages: ethers' Interface does this
// too, and all else that can be done with a contract, which is five kilobytes of every bundle, and its fragments are two.
import { AbiCoder, concat, getBytes, ParamType, type Result } from 'ethers'
import { textHash } from '../protocol/keccak.js'

/** `require` with a text, and `assert`: every contract has them. */
const BUILT_IN = ['error Error(string)', 'error Panic(uint256)']
const SELECTOR_BYTES = 4
const SELECTOR_CHARS = 2 + 2 * SELECTOR_BYTES
/** What stands before the name, the name, the parameters, and what is returned. */
const LINE = /^(\w+) (\w+)\((.*?)\)(?: (?:view|pure))?(?: returns \((.*)\))?$/

const coder = () => AbiCoder.defaultAbiCoder()
const selectorIn = (data: string) => data.slice(0, SELECTOR_CHARS)

/** A function or an error, as a line declares it. */
interface Declared {
  readonly name: string
  readonly selector: string
  readonly inputs: readonly ParamType[]
  readonly outputs: readonly ParamType[]
}

/** @throws for a line of another form */
function declared(line: string): Declared {
  const [, , name, taken, returned] = LINE.exec(line) ?? []
  if (name === undefined) throw new Error(`not a function or an error: ${line}`)
  const inputs = tupleOf(taken)
  const selector = selectorIn(textHash(`${name}${inputs.format('sighash')}`))
  return { name, selector, inputs: inputs.components ?? [], outputs: tupleOf(returned).components ?? [] }
}

const tupleOf = (parameters = '') => ParamType.from(`tuple(${parameters})`)

export type Abi = ReturnType<typeof createAbi>

/** @param lines such as `function orders(bytes32 orderId) view returns (address account)`; each name once among the functions */
export function createAbi(lines: readonly string[]) {
  const functions = new Map<string, Declared>()
  function functionOf(name: string): Declared {
    const line = lines.find((each) => each.startsWith(`function ${name}(`)) ?? ''
    const found = functions.get(name) ?? declared(line)
    functions.set(name, found)
    return found
  }
  return {
    selector: (name: string) => functionOf(name).selector,
    encodeCall(name: string, args: readonly unknown[]): string {
      const { selector, inputs } = functionOf(name)
      return concat([selector, coder().encode(inputs, args)])
    },
    /** @throws if the data is no call of the function */
    decodeCall(name: string, data: string): Result {
      const { selector, inputs } = functionOf(name)
      if (selectorIn(data) !== selector) throw new Error(`no call of ${name}`)
      return coder().decode(inputs, getBytes(data).subarray(SELECTOR_BYTES))
    },
    /** @throws if the answer is not the function's */
    decodeAnswer: (name: string, answer: string): Result => coder().decode(functionOf(name).outputs, answer),
    /** The error that a revert's data names, with its arguments by name or place; null for an error of another contract. */
    parseError(
      data: string,
    ): { readonly name: string; readonly args: Readonly<Record<string, unknown>> } | null {
      const errors = [...lines.filter((line) => line.startsWith('error ')), ...BUILT_IN]
      const error = errors.map(declared).find(({ selector }) => selector === selectorIn(data))
      if (error === undefined) return null
      const values = coder().decode(error.inputs, getBytes(data).subarray(SELECTOR_BYTES))
      const args = error.inputs.map(({ name }, index) => [name || String(index), values[index]])
      return { name: error.name, args: Object.fromEntries(args) }
    },
  }
}
