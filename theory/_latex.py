r"""The formulas as LaTeX, each written once and shown with its symbols or with the numbers put in.

In a template `<eta>` is an argument and `~` a product: a thin space between symbols, `\cdot` between numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

SYMBOLS = {
    "eta": r"\eta",
    "eta_t": r"\eta_t",
    "L": "L",
    "F2": "F^2",
    "F": "F",
    "P": "P",
    "s": "s",
    "T": "T",
    "d": "d",
    "v0": "v_0",
    "r": "r",
    "t": "t",
    "tau": r"\tau",
    "mu_gamma": r"\mu_\gamma",
    "var_gamma": r"\sigma_\gamma",
    "mu_k": r"\mu_k",
    "var_k": r"\sigma_k",
    "mu_eta": r"\mu_{\gamma^\eta}",
    "var_eta": r"\sigma_{\gamma^\eta}",
    "chi": r"\chi",
    "sd_t": r"\mathrm{sd}(x_t)",
    "sd_next": r"\mathrm{sd}(x_{t+1})",
    "M": "M",
    "M3": "M_3",
    "rho": r"\rho",
    "h": "h_T",
    "H": "H_T",
    "h_rest": "h_{T-r}",
    "h_window": r"h_{\min(T, P(2s+1))}",
    "most": r"N_{\max}",
    "k": "k",
    "n": "n",
    "delta": r"\delta",
}

_BERNSTEIN = r"\exp\left(-\frac{(<T>~<tau>)^2}{2~V + \frac{2}{3}~M~<T>~<tau>}\right)"
_V = r"V = <eta>^2~<L>^4~<var_gamma>~<H>"
_M = r"M = <eta>~<L>^2~<P>~(2~<s>+1)"
_CENTRED = r"M = <eta>~<L>^2~(<P>~(2~<s>+1) - <mu_gamma>)"
_CHERNOFF = (
    r"\min_{l \ge 0} \exp\Bigl(-l~<T>~<tau> + \sum_{t=1}^{<T>} \psi(l\,a_t)\Bigr),"
    r"\quad a_t = <eta>~<L>^2/\sqrt{t}"
)
_TWO_MOMENT = r"U = <P>~(2~<s>+1) - <mu_gamma>"

FORMULAS = {
    "thm1": r"\frac{<eta>~<L>^2}{2}~(<r> + <h_rest>) + \frac{<F2>~\sqrt{<T>-<r>}}{<eta>}"
    r" + \sqrt{<d>}~<L>~<v0>~<h>",
    "thm1 per pair": r"\frac{<eta>~<L>^2}{2}~(<r> + <h_rest>) + \frac{<F2>~\sqrt{<T>-<r>}}{<eta>}"
    r" + \sqrt{<d>}~<L>~(<P>-1)~<v0>~<h>",
    "thm1 printed": r"\left(<eta>~<L>^2 + \frac{<F2>}{<eta>} + \sqrt{<d>}~<L>~<v0>\right)~\sqrt{<T>}",
    "thm2": r"2~\sqrt{<d>}~\left(\frac{<v0>~<sd_t>}{\sqrt{<t>}} + \frac{<v0>~<sd_next>}{\sqrt{<t>+1}}\right)"
    r" + <d>~\frac{<v0>^2}{<t>} + 2~<eta_t>~<sd_t>~<M>~\sqrt{<d>}~\frac{<v0>}{\sqrt{<t>}}",
    "thm3": r"\frac{<eta>~<L>^2}{2}~<h> + \frac{<F2>~\sqrt{<T>}}{<eta>} + <eta>~<L>^2~<most>~<h>",
    "thm3 simple": r"\left[<eta>~<L>^2~(1 + 2~<most>) + \frac{<F2>}{<eta>}\right]~\sqrt{<T>}",
    "thm3 best step": r"2~<F>~<L>~\sqrt{(1 + 2~<most>)~<T>}",
    "thm3 Ho 2013": r"4~<F>~<L>~\sqrt{2~(<s>+1)~<P>~<T>}",
    "centre printed": r"\frac{<eta>~<L>^2 + <F2>/<eta> + 2~<eta>~<L>^2~<mu_gamma>}{\sqrt{<T>}}",
    "centre exact": r"\frac{1}{<T>}\left[\frac{<eta>~<L>^2}{2}~<h> + \frac{<F2>~\sqrt{<T>}}{<eta>}"
    r" + <eta>~<L>^2~<mu_gamma>~<h>\right]",
    "paper": r"\exp\left(-\frac{<T>~<tau>^2}{2~\bar\eta_T~<var_gamma>"
    r" + \frac{2}{3}~<eta>~<L>^2~(2~<s>+1)~<P>~<tau>}\right),"
    r"\quad \bar\eta_T = \frac{<eta>^2~<L>^4~(\ln <T> + 1)}{<T>}",
    "bernstein": rf"{_BERNSTEIN},\quad {_V},\quad {_M}",
    "bernstein_centred": rf"{_BERNSTEIN},\quad {_V},\quad {_CENTRED}",
    "bennett": r"\exp\left(-\frac{V}{M^2}~h\!\left(\frac{M~<T>~<tau>}{V}\right)\right),"
    r"\quad h(u) = (1+u)\ln(1+u) - u,"
    rf"\quad {_V},\quad {_CENTRED}",
    "per_term": rf"{_CHERNOFF},"
    rf"\quad \psi(x) = \ln\left(1 + \frac{{<var_gamma>}}{{U^2}}~(e^{{xU}} - 1 - xU)\right),"
    rf"\quad {_TWO_MOMENT}",
    "two_point": rf"{_CHERNOFF},\quad \psi(x) = \ln\left(p\,e^{{xU}} + (1-p)\,e^{{-x~<var_gamma>/U}}\right),"
    rf"\quad p = \frac{{<var_gamma>}}{{<var_gamma> + U^2}},\quad {_TWO_MOMENT}",
    "cramer": rf"{_CHERNOFF},\quad \psi(x) = \ln \sum_j p_j\,e^{{x~(v_j - <mu_gamma>)}}",
    "chi_bernstein": r"\exp\left(-\frac{(<T>~<tau>)^2}{<chi>~(2~V + \frac{2}{3}~M~<T>~<tau>)}\right),"
    + rf"\quad {_V},\quad {_M}",
    "thm5-counts": r"\exp\left(-\frac{<T>^2~<tau>^2}{2~<eta>^2~<L>^4~<var_k>~<H>"
    r" + \frac{2}{3}~<eta>~<L>^2~<most>~<T>~<tau>}\right)",
    "thm5-steps": r"\exp\left(-\frac{<T>^2~<tau>^2}{2~<eta>^2~<L>^4~<var_eta>~<H>"
    r" + \frac{2}{3}~<eta>~<L>^2~<h_window>~<T>~<tau>}\right)",
    "run-tail": r"\sup\{p : \Pr[\mathrm{Bin}(<n>, p) \le <k>] \ge <delta>\}",
    "lemma4": r"<P>~(2~<s>+1)",
    "lemma4 kappa": r"\max_{t \le <T>} \frac{\sqrt{t}}{<P>~(2~<s>+1)} \sum_{t' \in W_t} \frac{1}{\sqrt{t'}}",
    "lemma-a1 lhs": r"\langle \tilde x_t - x^*, g_t \rangle",
    "lemma-a1 rhs": r"\frac{<eta>~|g_t|^2}{2} + \frac{D(x^*, x_t) - D(x^*, x_{t+1})}{<eta>}"
    r" + \langle \tilde x_t - x_t, g_t \rangle",
    "lemma-a2": r"\frac{<M3>}{2}~<rho>^2",
    "ref:drift": r"-2~<eta>~\mathrm{cov}(x_t, h_t)",
    "ref:fresh_noise": r"<eta>^2~\mathrm{Var}(h_t)",
    "ref:stale1": r"-2~<eta>~\mathrm{cov}(x_t, r_t)",
    "ref:stale2": r"2~<eta>^2~\mathrm{cov}(h_t, r_t)",
    "ref:stale3": r"<eta>^2~\mathrm{Var}(r_t)",
    "view:cross": r"2~[\mathrm{cov}(x_{t+1}, \delta_{t+1}) - \mathrm{cov}(x_t, \delta_t)]",
    "view:vardelta": r"\mathrm{Var}(\delta_{t+1}) - \mathrm{Var}(\delta_t)",
}
"""Formula of every line that the command line prints."""


def number(value: float) -> str:
    """A number in LaTeX, ten digits, in brackets when negative."""
    text = f"{value:.10g}"
    if "e" in text:
        mantissa, power = text.split("e")
        text = rf"{mantissa}\cdot 10^{{{int(power)}}}"
        return rf"({text})"
    return f"({text})" if value < 0 else text


def symbolic(name: str) -> str:
    """The formula with its symbols."""
    return re.sub(r"<(\w+)>", lambda m: SYMBOLS[m[1]], FORMULAS[name]).replace("~", r"\,")


def numeric(name: str, values: Mapping[str, float]) -> str:
    """The formula with the numbers put in."""
    text = re.sub(r"<(\w+)>", lambda m: number(values[m[1]]), FORMULAS[name])
    return text.replace("~", r" \cdot ")


def lines(name: str, values: Mapping[str, float], result: float) -> str:
    """Formula, numbers put in, result: three lines of an align environment."""
    shown = number(result).strip("()")
    return f"{symbolic(name)} \\\\\n  &= {numeric(name, values)} \\\\\n  &= {shown}"
