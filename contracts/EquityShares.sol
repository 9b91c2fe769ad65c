// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {ERC20Upgradeable} from "@openzeppelin/contracts-upgradeable/token/ERC20/ERC20Upgradeable.sol";
import {
    ERC20PermitUpgradeable
} from "@openzeppelin/contracts-upgradeable/token/ERC20/extensions/ERC20PermitUpgradeable.sol";

import {Sweepable} from "./Sweepable.sol";
import {ICorporateActions} from "./interfaces/ICorporateActions.sol";
import {IEquityShares} from "./interfaces/IEquityShares.sol";
import {IEquityToken} from "./interfaces/IEquityToken.sol";

/// @title See {IEquityShares}.
contract EquityShares is IEquityShares, ERC20PermitUpgradeable, Sweepable {
    /// @dev A balance or the supply, and the number of the equity's ratios that it includes.
    struct Holding {
        uint128 amount;
        uint16 ratios;
    }

    /// @inheritdoc IEquityShares
    IEquityToken public immutable token;

    /// @inheritdoc IEquityShares
    ICorporateActions public immutable actions;

    mapping(address account => Holding) private _holdings;

    Holding private _supply;

    constructor(IEquityToken token_, ICorporateActions actions_, IERC20 usdc_, address pool_) Sweepable(usdc_, pool_) {
        token = token_;
        actions = actions_;
    }

    modifier onlyToken() {
        require(msg.sender == address(token), NotToken(address(token), msg.sender));
        _;
    }

    /// @inheritdoc IEquityShares
    function mint(uint256 amount) external onlyToken {
        _mint(pool, amount);
    }

    /// @inheritdoc IEquityShares
    function burn(uint256 amount) external onlyToken {
        _burn(pool, amount);
    }

    /// @inheritdoc IEquityShares
    function carry(address account) external {
        _carry(account);
    }

    /// @inheritdoc IERC20
    function balanceOf(address account) public view override(ERC20Upgradeable, IERC20) returns (uint256 balance) {
        (balance,) = _carried(_holdings[account]);
    }

    /// @inheritdoc IERC20
    function totalSupply() public view override(ERC20Upgradeable, IERC20) returns (uint256 supply) {
        (supply,) = _carried(_supply);
    }

    /// @inheritdoc IEquityShares
    function equity() public view returns (bytes32) {
        return bytes32(Clones.fetchCloneArgs(address(this)));
    }

    /// @notice The symbol as text: an equity's only name here.
    function name() public view override(ERC20Upgradeable, IERC20Metadata) returns (string memory) {
        bytes32 word = equity();
        uint256 length = 0;
        while (length < 32 && word[length] != 0) length++;
        bytes memory text = new bytes(length);
        for (uint256 i = 0; i < length; i++) text[i] = word[i];
        return string(text);
    }

    /// @notice The symbol as text.
    function symbol() public view override(ERC20Upgradeable, IERC20Metadata) returns (string memory) {
        return name();
    }

    /// @notice Shares have 9 decimals.
    function decimals() public pure override(ERC20Upgradeable, IERC20Metadata) returns (uint8) {
        return 9;
    }

    /// @inheritdoc IEquityShares
    function canSend(address account) external view returns (bool) {
        return token.isCleared(equity(), account);
    }

    /// @inheritdoc IEquityShares
    function canReceive(address account) external view returns (bool) {
        return token.isCleared(equity(), account);
    }

    /// @inheritdoc IEquityShares
    function canTransfer(address from, address to, uint256 amount) external view returns (bool) {
        if (from == address(0) || to == address(0) || balanceOf(from) < amount) return false;
        try token.requireTransferable(equity(), from, from, to) {
            return true;
        } catch {
            return false;
        }
    }

    /// @inheritdoc IEquityShares
    function getFrozenTokens(address account) external view returns (uint256) {
        return token.isFrozen(equity(), account) ? type(uint256).max : 0;
    }

    /// @dev Every transfer, mint and burn passes here. The base's own balances stay empty.
    function _update(address from, address to, uint256 amount) internal override {
        if (from != address(0) && to != address(0)) {
            token.requireTransferable(equity(), msg.sender, from, to);
        } else {
            uint256 supply;
            (supply, _supply.ratios) = _carried(_supply);
            _supply.amount = SafeCast.toUint128(from == address(0) ? supply + amount : supply - amount);
        }
        if (from != address(0)) {
            uint256 balance = _carry(from);
            require(balance >= amount, ERC20InsufficientBalance(from, balance, amount));
            _holdings[from].amount = uint128(balance - amount);
        }
        if (to != address(0)) _holdings[to].amount = SafeCast.toUint128(_carry(to) + amount);
        emit Transfer(from, to, amount);
    }

    /// @dev Stores an account's carried balance, and shows the difference as minted or burned.
    function _carry(address account) private returns (uint256 balance) {
        Holding storage holding = _holdings[account];
        uint256 before = holding.amount;
        (balance, holding.ratios) = _carried(holding);
        if (balance == before) return balance;
        holding.amount = uint128(balance);
        if (balance > before) emit Transfer(address(0), account, balance - before);
        else emit Transfer(account, address(0), before - balance);
    }

    function _carried(Holding storage holding) private view returns (uint256 amount, uint16 ratios) {
        return actions.carry(equity(), holding.amount, holding.ratios);
    }

    function _EIP712Name() internal view override returns (string memory) {
        return name();
    }

    function _EIP712Version() internal pure override returns (string memory) {
        return "1";
    }
}
