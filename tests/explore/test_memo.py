from pskit.explore.memo import Memo, Numbers


def test_a_value_is_worked_out_once():
    asked = []
    squares = Memo(lambda n: asked.append(n) or n * n)
    assert [squares[3], squares[3], squares[4]] == [9, 9, 16]
    assert asked == [3, 4]


def test_numbers_count_up_in_the_order_of_meeting():
    numbers = Numbers[str]()
    assert [numbers.of(word) for word in ("a", "b", "a")] == [0, 1, 0]
    assert (numbers[1], len(numbers), numbers.things) == ("b", 2, ["a", "b"])
