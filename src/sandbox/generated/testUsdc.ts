// Generated from contracts/ by `npm run contracts`. Do not edit.
export const testUsdcAbi = [
  {
    "inputs": [],
    "stateMutability": "nonpayable",
    "type": "constructor"
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
  }
] as const
export const testUsdcBytecode = '0x608060405234801561000f575f5ffd5b506040518060400160405280600f81526020016e55534420436f696e2028746573742960881b815250604051806040016040528060048152602001635553444360e01b8152508160039081610064919061011c565b506004610071828261011c565b5050506101da565b634e487b7160e01b5f52604160045260245ffd5b600181811c908216806100a157607f821691505b6020821081036100bf57634e487b7160e01b5f52602260045260245ffd5b50919050565b601f821115610117578282111561011757805f5260205f20601f840160051c60208510156100f057505f5b90810190601f840160051c035f5b81811015610113575f838201556001016100fe565b5050505b505050565b81516001600160401b0381111561013557610135610079565b61014981610143845461008d565b846100c5565b6020601f82116001811461017b575f83156101645750848201515b5f19600385901b1c1916600184901b1784556101d3565b5f84815260208120601f198516915b828110156101aa578785015182556020948501946001909201910161018a565b50848210156101c757868401515f19600387901b60f8161c191681555b505060018360011b0184555b5050505050565b6107b8806101e75f395ff3fe608060405234801561000f575f5ffd5b50600436106100b9575f3560e01c806340c10f191161007257806395d89b411161005857806395d89b411461016f578063a9059cbb14610177578063dd62ed3e1461018a575f5ffd5b806340c10f191461013257806370a0823114610147575f5ffd5b806318160ddd116100a257806318160ddd146100fe57806323b872dd14610110578063313ce56714610123575f5ffd5b806306fdde03146100bd578063095ea7b3146100db575b5f5ffd5b6100c56101c2565b6040516100d29190610651565b60405180910390f35b6100ee6100e93660046106a1565b610252565b60405190151581526020016100d2565b6002545b6040519081526020016100d2565b6100ee61011e3660046106c9565b61026b565b604051600681526020016100d2565b6101456101403660046106a1565b61028e565b005b610102610155366004610703565b6001600160a01b03165f9081526020819052604090205490565b6100c561029c565b6100ee6101853660046106a1565b6102ab565b610102610198366004610723565b6001600160a01b039182165f90815260016020908152604080832093909416825291909152205490565b6060600380546101d190610754565b80601f01602080910402602001604051908101604052809291908181526020018280546101fd90610754565b80156102485780601f1061021f57610100808354040283529160200191610248565b820191905f5260205f20905b81548152906001019060200180831161022b57829003601f168201915b5050505050905090565b5f3361025f8185856102b8565b60019150505b92915050565b5f336102788582856102ca565b610283858585610364565b506001949350505050565b61029882826103da565b5050565b6060600480546101d190610754565b5f3361025f818585610364565b6102c5838383600161040e565b505050565b6001600160a01b038381165f908152600160209081526040808320938616835292905220545f1981101561035e5781811015610350576040517ffb8f41b20000000000000000000000000000000000000000000000000000000081526001600160a01b038416600482015260248101829052604481018390526064015b60405180910390fd5b61035e84848484035f61040e565b50505050565b6001600160a01b0383166103a6576040517f96c6fd1e0000000000000000000000000000000000000000000000000000000081525f6004820152602401610347565b6001600160a01b0382166103cf5760405163ec442f0560e01b81525f6004820152602401610347565b6102c5838383610512565b6001600160a01b0382166104035760405163ec442f0560e01b81525f6004820152602401610347565b6102985f8383610512565b6001600160a01b038416610450576040517fe602df050000000000000000000000000000000000000000000000000000000081525f6004820152602401610347565b6001600160a01b038316610492576040517f94280d620000000000000000000000000000000000000000000000000000000081525f6004820152602401610347565b6001600160a01b038085165f908152600160209081526040808320938716835292905220829055801561035e57826001600160a01b0316846001600160a01b03167f8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b9258460405161050491815260200190565b60405180910390a350505050565b6001600160a01b03831661053c578060025f828254610531919061078c565b909155506105c59050565b6001600160a01b0383165f90815260208190526040902054818110156105a7576040517fe450d38c0000000000000000000000000000000000000000000000000000000081526001600160a01b03851660048201526024810182905260448101839052606401610347565b6001600160a01b0384165f9081526020819052604090209082900390555b6001600160a01b0382166105e1576002805482900390556105ff565b6001600160a01b0382165f9081526020819052604090208054820190555b816001600160a01b0316836001600160a01b03167fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef8360405161064491815260200190565b60405180910390a3505050565b602081525f82518060208401528060208501604085015e5f604082850101526040601f19601f83011684010191505092915050565b80356001600160a01b038116811461069c575f5ffd5b919050565b5f5f604083850312156106b2575f5ffd5b6106bb83610686565b946020939093013593505050565b5f5f5f606084860312156106db575f5ffd5b6106e484610686565b92506106f260208501610686565b929592945050506040919091013590565b5f60208284031215610713575f5ffd5b61071c82610686565b9392505050565b5f5f60408385031215610734575f5ffd5b61073d83610686565b915061074b60208401610686565b90509250929050565b600181811c9082168061076857607f821691505b60208210810361078657634e487b7160e01b5f52602260045260245ffd5b50919050565b8082018082111561026557634e487b7160e01b5f52601160045260245ffdfea164736f6c6343000825000a'
