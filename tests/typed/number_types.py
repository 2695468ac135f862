"""What the type checker accepts and refuses of balls and arrays: an unused ``type: ignore`` is an error of its own."""

from bursar.numerics.arrays import Array, Complexes
from bursar.numerics.balls import Ball, ComplexBall, ball, complex_ball, up
from bursar.numerics.quadrature import real_integral
from bursar.numerics.trusted import forward, normal_cdf


def accepted(x: Ball, z: ComplexBall, v: Array) -> None:
    """What the source does with balls and arrays."""
    up(2 * x + 1)
    up((z * x).exp().real)
    _: Ball = sum((x, x), ball(0))
    real_integral(lambda y, analytic: y.exp(), (x, x))
    print(up(ball(0.1)) < float(x))
    normal_cdf(v * 2 - float(x))
    forward(v)


def refused(x: Ball, z: ComplexBall, v: Array, w: Complexes) -> None:
    """A text for a ball, a method that balls lack, an order of complex numbers, numbers for arrays."""
    up("0.1")  # type: ignore[arg-type]
    up(z)  # type: ignore[arg-type]
    x.squared()  # type: ignore[attr-defined]
    z.upper()  # type: ignore[attr-defined]
    x + "1"  # type: ignore[operator]
    print(z < x)  # type: ignore[operator]
    ball("0.1")  # type: ignore[arg-type]
    _number: float = x * 2  # type: ignore[assignment]
    _ball: Ball = complex_ball(x)  # type: ignore[assignment]
    real_integral(lambda y, analytic: y.exp(), 1.0)  # type: ignore[arg-type]
    v.squared()  # type: ignore[attr-defined]
    normal_cdf(x)  # type: ignore[arg-type]
    forward(w)  # type: ignore[arg-type]
    _array: Array = w  # type: ignore[assignment]
