// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC3009} from "@openzeppelin/contracts/token/ERC20/extensions/draft-ERC3009.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";

/**
 * @title A stand-in for USDC on local chains: 6 decimals, and anyone may mint. Never deploy it on a chain of value.
 *
 * @dev Has EIP-3009 and the views of its domain as Circle's FiatToken has them.
 */
contract TestUsdc is ERC20("USD Coin (test)", "USDC"), EIP712("USD Coin (test)", "2"), ERC3009 {
    /// @notice The version in the EIP-712 domain; the name is {name}.
    string public constant version = "2";

    /// @inheritdoc ERC20
    function decimals() public pure override returns (uint8) {
        return 6;
    }

    /// @notice Mints `amount` base units to `to`.
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    /// @notice The hash of the EIP-712 domain.
    function DOMAIN_SEPARATOR() external view returns (bytes32) {
        return _domainSeparatorV4();
    }
}
