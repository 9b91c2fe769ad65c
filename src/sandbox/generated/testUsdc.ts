// Generated from contracts/ by `npm run contracts`. Do not edit.
export const testUsdcAbi = [
  {
    "inputs": [],
    "name": "ECDSAInvalidSignature",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "length",
        "type": "uint256"
      }
    ],
    "name": "ECDSAInvalidSignatureLength",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "s",
        "type": "bytes32"
      }
    ],
    "name": "ECDSAInvalidSignatureS",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "spender",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "allowance",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "needed",
        "type": "uint256"
      }
    ],
    "name": "ERC20InsufficientAllowance",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "sender",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "balance",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "needed",
        "type": "uint256"
      }
    ],
    "name": "ERC20InsufficientBalance",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "approver",
        "type": "address"
      }
    ],
    "name": "ERC20InvalidApprover",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "receiver",
        "type": "address"
      }
    ],
    "name": "ERC20InvalidReceiver",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "sender",
        "type": "address"
      }
    ],
    "name": "ERC20InvalidSender",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "spender",
        "type": "address"
      }
    ],
    "name": "ERC20InvalidSpender",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "validAfter",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "validBefore",
        "type": "uint256"
      }
    ],
    "name": "ERC3009InvalidAuthorizationTime",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "ERC3009InvalidSignature",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "authorizer",
        "type": "address"
      },
      {
        "internalType": "bytes32",
        "name": "nonce",
        "type": "bytes32"
      }
    ],
    "name": "ERC3009UsedAuthorization",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "InvalidShortString",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint8",
        "name": "bits",
        "type": "uint8"
      },
      {
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "SafeCastOverflowedUintDowncast",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "string",
        "name": "str",
        "type": "string"
      }
    ],
    "name": "StringTooLong",
    "type": "error"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "owner",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "spender",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "Approval",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "authorizer",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "nonce",
        "type": "bytes32"
      }
    ],
    "name": "AuthorizationCanceled",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "authorizer",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "nonce",
        "type": "bytes32"
      }
    ],
    "name": "AuthorizationUsed",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [],
    "name": "EIP712DomainChanged",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "from",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "Transfer",
    "type": "event"
  },
  {
    "inputs": [],
    "name": "DOMAIN_SEPARATOR",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "",
        "type": "bytes32"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "owner",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "spender",
        "type": "address"
      }
    ],
    "name": "allowance",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "spender",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "approve",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "authorizer",
        "type": "address"
      },
      {
        "internalType": "bytes32",
        "name": "nonce",
        "type": "bytes32"
      }
    ],
    "name": "authorizationState",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "balanceOf",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "authorizer",
        "type": "address"
      },
      {
        "internalType": "bytes32",
        "name": "nonce",
        "type": "bytes32"
      },
      {
        "internalType": "uint8",
        "name": "v",
        "type": "uint8"
      },
      {
        "internalType": "bytes32",
        "name": "r",
        "type": "bytes32"
      },
      {
        "internalType": "bytes32",
        "name": "s",
        "type": "bytes32"
      }
    ],
    "name": "cancelAuthorization",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "decimals",
    "outputs": [
      {
        "internalType": "uint8",
        "name": "",
        "type": "uint8"
      }
    ],
    "stateMutability": "pure",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "eip712Domain",
    "outputs": [
      {
        "internalType": "bytes1",
        "name": "fields",
        "type": "bytes1"
      },
      {
        "internalType": "string",
        "name": "name",
        "type": "string"
      },
      {
        "internalType": "string",
        "name": "version",
        "type": "string"
      },
      {
        "internalType": "uint256",
        "name": "chainId",
        "type": "uint256"
      },
      {
        "internalType": "address",
        "name": "verifyingContract",
        "type": "address"
      },
      {
        "internalType": "bytes32",
        "name": "salt",
        "type": "bytes32"
      },
      {
        "internalType": "uint256[]",
        "name": "extensions",
        "type": "uint256[]"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      }
    ],
    "name": "mint",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "name",
    "outputs": [
      {
        "internalType": "string",
        "name": "",
        "type": "string"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "from",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "validAfter",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "validBefore",
        "type": "uint256"
      },
      {
        "internalType": "bytes32",
        "name": "nonce",
        "type": "bytes32"
      },
      {
        "internalType": "uint8",
        "name": "v",
        "type": "uint8"
      },
      {
        "internalType": "bytes32",
        "name": "r",
        "type": "bytes32"
      },
      {
        "internalType": "bytes32",
        "name": "s",
        "type": "bytes32"
      }
    ],
    "name": "receiveWithAuthorization",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "symbol",
    "outputs": [
      {
        "internalType": "string",
        "name": "",
        "type": "string"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "totalSupply",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "transfer",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "from",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "transferFrom",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "from",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "validAfter",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "validBefore",
        "type": "uint256"
      },
      {
        "internalType": "bytes32",
        "name": "nonce",
        "type": "bytes32"
      },
      {
        "internalType": "uint8",
        "name": "v",
        "type": "uint8"
      },
      {
        "internalType": "bytes32",
        "name": "r",
        "type": "bytes32"
      },
      {
        "internalType": "bytes32",
        "name": "s",
        "type": "bytes32"
      }
    ],
    "name": "transferWithAuthorization",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "version",
    "outputs": [
      {
        "internalType": "string",
        "name": "",
        "type": "string"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  }
] as const
export const testUsdcBytecode = '0x610160604052348015610010575f5ffd5b50604080518082018252600f8082526e55534420436f696e2028746573742960881b60208084018290528451808601865260018152601960f91b818301528551808701875293845283820192909252845180860190955260048552635553444360e01b90850152919260036100858382610234565b5060046100928282610234565b5050506100a48261014b60201b60201c565b610120526100b18161014b565b61014052815160208084019190912060e052815190820120610100524660a05261013d60e05161010051604080517f8b73c3c69bb8fe3d512ecc4cf759cc79239f7b179b0ffacaa9a75d522b39400f60208201529081019290925260608201524660808201523060a08201525f9060c00160405160208183030381529060405280519060200120905090565b60805250503060c05261034a565b5f5f829050601f8151111561017e578260405163305a27a960e01b815260040161017591906102f2565b60405180910390fd5b805161018982610327565b179392505050565b634e487b7160e01b5f52604160045260245ffd5b600181811c908216806101b957607f821691505b6020821081036101d757634e487b7160e01b5f52602260045260245ffd5b50919050565b601f82111561022f578282111561022f57805f5260205f20601f840160051c602085101561020857505f5b90810190601f840160051c035f5b8181101561022b575f83820155600101610216565b5050505b505050565b81516001600160401b0381111561024d5761024d610191565b6102618161025b84546101a5565b846101dd565b6020601f821160018114610293575f831561027c5750848201515b5f19600385901b1c1916600184901b1784556102eb565b5f84815260208120601f198516915b828110156102c257878501518255602094850194600190920191016102a2565b50848210156102df57868401515f19600387901b60f8161c191681555b505060018360011b0184555b5050505050565b602081525f82518060208401528060208501604085015e5f604082850101526040601f19601f83011684010191505092915050565b805160208083015191908110156101d7575f1960209190910360031b1b16919050565b60805160a05160c05160e0516101005161012051610140516113c461039b5f395f610a2a01525f6109ff01525f6108be01525f61089601525f6107f101525f61081b01525f61084501526113c45ff3fe608060405234801561000f575f5ffd5b5060043610610115575f3560e01c80635a049a70116100ad578063a9059cbb1161007d578063e3ee160e11610063578063e3ee160e14610290578063e94a0102146102a3578063ef55bec6146102db575f5ffd5b8063a9059cbb14610245578063dd62ed3e14610258575f5ffd5b80635a049a70146101e757806370a08231146101fa57806384b0196e1461022257806395d89b411461023d575f5ffd5b8063313ce567116100e8578063313ce5671461017f5780633644e5151461018e57806340c10f191461019657806354fd4d50146101ab575f5ffd5b806306fdde0314610119578063095ea7b31461013757806318160ddd1461015a57806323b872dd1461016c575b5f5ffd5b6101216102ee565b60405161012e91906110e5565b60405180910390f35b61014a610145366004611119565b61037e565b604051901515815260200161012e565b6002545b60405190815260200161012e565b61014a61017a366004611141565b610397565b6040516006815260200161012e565b61015e6103ba565b6101a96101a4366004611119565b6103c8565b005b6101216040518060400160405280600181526020017f320000000000000000000000000000000000000000000000000000000000000081525081565b6101a96101f536600461118b565b6103d6565b61015e6102083660046111d5565b6001600160a01b03165f9081526020819052604090205490565b61022a61048e565b60405161012e97969594939291906111ee565b6101216104ec565b61014a610253366004611119565b6104fb565b61015e6102663660046112a0565b6001600160a01b039182165f90815260016020908152604080832093909416825291909152205490565b6101a961029e3660046112d1565b610508565b61014a6102b1366004611119565b6001600160a01b03919091165f908152600760209081526040808320938352929052205460ff1690565b6101a96102e93660046112d1565b6105d0565b6060600380546102fd9061134c565b80601f01602080910402602001604051908101604052809291908181526020018280546103299061134c565b80156103745780601f1061034b57610100808354040283529160200191610374565b820191905f5260205f20905b81548152906001019060200180831161035757829003601f168201915b5050505050905090565b5f3361038b8185856106c8565b60019150505b92915050565b5f336103a48582856106da565b6103af85858561076f565b506001949350505050565b5f6103c36107e5565b905090565b6103d2828261090e565b5050565b604080517f158b0a9edf7a828aad02f63cd515c68ef2f50ba807396f6d12842833a159742960208201526001600160a01b03871691810191909152606081018590525f9061043d906080015b60405160208183030381529060405280519060200120610942565b905061044b81858585610989565b6001600160a01b0316866001600160a01b03161461047c57604051631df081fd60e21b815260040160405180910390fd5b61048686866109b5565b505050505050565b5f6060805f5f5f606061049f6109f8565b6104a7610a23565b604080515f808252602082019092527f0f000000000000000000000000000000000000000000000000000000000000009b939a50919850469750309650945092509050565b6060600480546102fd9061134c565b5f3361038b81858561076f565b604080517f7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a226760208201526001600160a01b03808c169282019290925290891660608201526080810188905260a0810187905260c0810186905260e081018590525f906105779061010001610422565b905061058581858585610989565b6001600160a01b03168a6001600160a01b0316146105b657604051631df081fd60e21b815260040160405180910390fd5b6105c48a8a8a8a8a8a610a4e565b50505050505050505050565b604080517fd099cc98ef71107a616c4f0f941f04c322d8e254fe26b3c6668db87aae413de860208201526001600160a01b03808c169282019290925290891660608201526080810188905260a0810187905260c0810186905260e081018590525f9061063f9061010001610422565b905061064d81858585610989565b6001600160a01b03168a6001600160a01b03161461067e57604051631df081fd60e21b815260040160405180910390fd5b886001600160a01b03811633146106b95760405163ec442f0560e01b81526001600160a01b0390911660048201526024015b60405180910390fd5b506105c48a8a8a8a8a8a610a4e565b6106d58383836001610aa2565b505050565b6001600160a01b038381165f908152600160209081526040808320938616835292905220545f19811015610769578181101561075b576040517ffb8f41b20000000000000000000000000000000000000000000000000000000081526001600160a01b038416600482015260248101829052604481018390526064016106b0565b61076984848484035f610aa2565b50505050565b6001600160a01b0383166107b1576040517f96c6fd1e0000000000000000000000000000000000000000000000000000000081525f60048201526024016106b0565b6001600160a01b0382166107da5760405163ec442f0560e01b81525f60048201526024016106b0565b6106d5838383610ba6565b5f306001600160a01b037f00000000000000000000000000000000000000000000000000000000000000001614801561083d57507f000000000000000000000000000000000000000000000000000000000000000046145b1561086757507f000000000000000000000000000000000000000000000000000000000000000090565b6103c3604080517f8b73c3c69bb8fe3d512ecc4cf759cc79239f7b179b0ffacaa9a75d522b39400f60208201527f0000000000000000000000000000000000000000000000000000000000000000918101919091527f000000000000000000000000000000000000000000000000000000000000000060608201524660808201523060a08201525f9060c00160405160208183030381529060405280519060200120905090565b6001600160a01b0382166109375760405163ec442f0560e01b81525f60048201526024016106b0565b6103d25f8383610ba6565b5f61039161094e6107e5565b836040517f19010000000000000000000000000000000000000000000000000000000000008152600281019290925260228201526042902090565b5f5f5f5f61099988888888610ce5565b9250925092506109a98282610dad565b50909695505050505050565b6109bf8282610eb0565b60405181906001600160a01b038416907f1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81905f90a35050565b60606103c37f0000000000000000000000000000000000000000000000000000000000000000610f53565b60606103c37f0000000000000000000000000000000000000000000000000000000000000000610f53565b610a588383610f90565b610a628682610eb0565b60405181906001600160a01b038816907f98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5905f90a361048686868661076f565b6001600160a01b038416610ae4576040517fe602df050000000000000000000000000000000000000000000000000000000081525f60048201526024016106b0565b6001600160a01b038316610b26576040517f94280d620000000000000000000000000000000000000000000000000000000081525f60048201526024016106b0565b6001600160a01b038085165f908152600160209081526040808320938716835292905220829055801561076957826001600160a01b0316846001600160a01b03167f8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b92584604051610b9891815260200190565b60405180910390a350505050565b6001600160a01b038316610bd0578060025f828254610bc59190611384565b90915550610c599050565b6001600160a01b0383165f9081526020819052604090205481811015610c3b576040517fe450d38c0000000000000000000000000000000000000000000000000000000081526001600160a01b038516600482015260248101829052604481018390526064016106b0565b6001600160a01b0384165f9081526020819052604090209082900390555b6001600160a01b038216610c7557600280548290039055610c93565b6001600160a01b0382165f9081526020819052604090208054820190555b816001600160a01b0316836001600160a01b03167fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef83604051610cd891815260200190565b60405180910390a3505050565b5f80807f7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0841115610d1e57505f91506003905082610da3565b604080515f808252602082018084528a905260ff891692820192909252606081018790526080810186905260019060a0016020604051602081039080840390855afa158015610d6f573d5f5f3e3d5ffd5b5050604051601f1901519150506001600160a01b038116610d9a57505f925060019150829050610da3565b92505f91508190505b9450945094915050565b5f826003811115610dc057610dc06113a3565b03610dc9575050565b6001826003811115610ddd57610ddd6113a3565b03610e14576040517ff645eedf00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6002826003811115610e2857610e286113a3565b03610e62576040517ffce698f7000000000000000000000000000000000000000000000000000000008152600481018290526024016106b0565b6003826003811115610e7657610e766113a3565b036103d2576040517fd78bce0c000000000000000000000000000000000000000000000000000000008152600481018290526024016106b0565b6001600160a01b0382165f9081526007602090815260408083208484529091529020548290829060ff1615610f22576040517f8f7808c10000000000000000000000000000000000000000000000000000000081526001600160a01b03909216600483015260248201526044016106b0565b50506001600160a01b039091165f90815260076020908152604080832093835292905220805460ff19166001179055565b60605f610f5f83611018565b6040805160208082528183019092529192505f91906020820181803683375050509182525060208101929092525090565b81811665800000000000165f8115610faf57610faa611058565b610fb7565b610fb7611062565b65ffffffffffff1690508119841681118015610fd557508119831681105b84849091610486576040517f4a931c17000000000000000000000000000000000000000000000000000000008152600481019290925260248201526044016106b0565b5f60ff8216601f811115610391576040517fb3512b0c00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f6103c343611068565b5f6103c3425b5f65ffffffffffff8211156110b3576040517f6dfcc65000000000000000000000000000000000000000000000000000000000815260306004820152602481018390526044016106b0565b5090565b5f81518084528060208401602086015e5f602082860101526020601f19601f83011685010191505092915050565b602081525f6110f760208301846110b7565b9392505050565b80356001600160a01b0381168114611114575f5ffd5b919050565b5f5f6040838503121561112a575f5ffd5b611133836110fe565b946020939093013593505050565b5f5f5f60608486031215611153575f5ffd5b61115c846110fe565b925061116a602085016110fe565b929592945050506040919091013590565b803560ff81168114611114575f5ffd5b5f5f5f5f5f60a0868803121561119f575f5ffd5b6111a8866110fe565b9450602086013593506111bd6040870161117b565b94979396509394606081013594506080013592915050565b5f602082840312156111e5575f5ffd5b6110f7826110fe565b7fff000000000000000000000000000000000000000000000000000000000000008816815260e060208201525f61122860e08301896110b7565b828103604084015261123a81896110b7565b606084018890526001600160a01b038716608085015260a0840186905283810360c0850152845180825260208087019350909101905f5b8181101561128f578351835260209384019390920191600101611271565b50909b9a5050505050505050505050565b5f5f604083850312156112b1575f5ffd5b6112ba836110fe565b91506112c8602084016110fe565b90509250929050565b5f5f5f5f5f5f5f5f5f6101208a8c0312156112ea575f5ffd5b6112f38a6110fe565b985061130160208b016110fe565b975060408a0135965060608a0135955060808a0135945060a08a0135935061132b60c08b0161117b565b989b979a50959894979396929550929360e081013593506101000135919050565b600181811c9082168061136057607f821691505b60208210810361137e57634e487b7160e01b5f52602260045260245ffd5b50919050565b8082018082111561039157634e487b7160e01b5f52601160045260245ffd5b634e487b7160e01b5f52602160045260245ffdfea164736f6c6343000825000a'
